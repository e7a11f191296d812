import type { ProjectsStrings } from '../en/projects.ts';

export const projectsGerman: ProjectsStrings = {
  projectsOfConversation: (title) => `Projekte des Gesprächs „${title}“`,
  newProjectHint:
    'Ein Projekt fasst Gespräche zusammen und gibt ihnen Anweisungen und Dateien. Du kannst die Anweisungen später ändern und Dateien hinzufügen.',
  createdWithChat: 'Es wird mit seinem ersten Gespräch angelegt.',
  projectExists: (project) =>
    `Das Projekt „${project}“ gibt es schon. „Gespräch beginnen“ öffnet es, mit seinen eigenen Anweisungen und Dateien.`,
  nameTaken: (project) => `Das Projekt „${project}“ gibt es schon. Wähle einen anderen Namen.`,
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
  saved: 'Gespeichert. Das gilt ab der nächsten Nachricht jedes Gesprächs in diesem Projekt.',
  deleteProject: 'Projekt löschen …',
  deleteQuestion: (project) =>
    `Das Projekt „${project}“ mit seinen Anweisungen und Dateien löschen? Seine Gespräche bleiben und gehören nicht mehr dazu. Dateien auf der Seite „Dateien“ bleiben dort.`,
};
