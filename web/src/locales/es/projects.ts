import type { ProjectsStrings } from '../en/projects.ts';

export const projectsSpanish: ProjectsStrings = {
  projectsOfConversation: (title) => `Proyectos de la conversación «${title}»`,
  newProjectHint:
    'Un proyecto reúne conversaciones y les da instrucciones y archivos. Más tarde puedes cambiar las instrucciones y añadir archivos.',
  createdWithChat: 'Se crea con su primera conversación.',
  projectExists: (project) =>
    `El proyecto «${project}» ya existe. «Empezar una conversación» lo abre, con sus propias instrucciones y archivos.`,
  nameTaken: (project) => `El proyecto «${project}» ya existe. Elige otro nombre.`,
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
  saved: 'Guardado. Se aplica desde el próximo mensaje de cada conversación de este proyecto.',
  deleteProject: 'Eliminar proyecto…',
  deleteQuestion: (project) =>
    `¿Eliminar el proyecto «${project}» con sus instrucciones y archivos? Las conversaciones del proyecto se conservan y dejan de pertenecer a él. Los archivos de la página «Archivos» permanecen allí.`,
};
