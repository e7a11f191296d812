import type { ProjectsStrings } from '../en/projects.ts';

export const projectsSpanish: ProjectsStrings = {
  projectsOfConversation: (title) => `Proyectos de la conversación «${title}»`,
  newProjectHint:
    'Un proyecto reúne conversaciones y les da instrucciones y archivos. Se crea con su primera conversación. Más tarde puedes cambiar las instrucciones y añadir archivos.',
  name: 'Nombre',
  startProject: 'Empezar una conversación',
  addProject: 'Añadir',
  done: 'Listo',
  title: (project) => `Proyecto «${project}»`,
  hint: (visibility) =>
    `Todas las conversaciones de un proyecto usan sus instrucciones y archivos. ${visibility} Los modelos solo reciben archivos de los tipos que aceptan.`,
  instructions: 'Instrucciones',
  files: 'Archivos',
  addFiles: 'Añadir archivos…',
  saved: 'Guardado. El próximo mensaje de cada conversación de este proyecto lo usa.',
};
