import type { ProjectsStrings } from '../en/projects.ts';

export const projectsGerman: ProjectsStrings = {
  projectsOfConversation: (title) => `Projekte des Gesprächs „${title}“`,
  newProjectHint:
    'Ein Projekt fasst Gespräche zusammen und gibt ihnen Anweisungen und Dateien. Es wird mit seinem ersten Gespräch angelegt. Anweisungen kannst du später ändern, und Dateien hinzufügen.',
  name: 'Name',
  startProject: 'Gespräch beginnen',
  addProject: 'Hinzufügen',
  done: 'Fertig',
  title: (project) => `Projekt „${project}“`,
  hint: (visibility) =>
    `Alle Gespräche eines Projekts verwenden seine Anweisungen und Dateien. ${visibility} Modelle erhalten nur Dateien der Typen, die sie annehmen.`,
  instructions: 'Anweisungen',
  files: 'Dateien',
  addFiles: 'Dateien hinzufügen …',
  saved: 'Gespeichert. Die nächste Nachricht jedes Gesprächs in diesem Projekt verwendet es.',
};
