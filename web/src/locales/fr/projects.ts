import type { ProjectsStrings } from '../en/projects.ts';

export const projectsFrench: ProjectsStrings = {
  projectsOfConversation: (title) => `Projets de la conversation « ${title} »`,
  newProjectHint:
    'Un projet rassemble des conversations et leur donne des instructions et des fichiers. Vous pouvez modifier les instructions et ajouter des fichiers plus tard.',
  createdWithChat: 'Il est créé avec sa première conversation.',
  projectExists: (project) =>
    `Le projet « ${project} » existe déjà. « Commencer une conversation » l’ouvre, avec ses propres instructions et fichiers.`,
  nameTaken: (project) => `Le projet « ${project} » existe déjà. Choisissez un autre nom.`,
  name: 'Nom',
  startProject: 'Commencer une conversation',
  addProject: 'Ajouter',
  done: 'Terminé',
  title: (project) => `Projet « ${project} »`,
  hint: (visibility) =>
    `Toutes les conversations d’un projet utilisent ses instructions et ses fichiers. ${visibility} Les modèles ne reçoivent que les fichiers des types qu’ils acceptent.`,
  instructions: 'Instructions',
  files: 'Fichiers',
  addFiles: 'Ajouter des fichiers…',
  saved: 'Enregistré. Cela s’applique dès le prochain message de chaque conversation de ce projet.',
  deleteProject: 'Supprimer le projet…',
  deleteQuestion: (project) =>
    `Supprimer le projet « ${project} » avec ses instructions et ses fichiers ? Ses conversations restent et n’en font plus partie. Les fichiers de la page « Fichiers » y restent.`,
};
