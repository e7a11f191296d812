import type { ProjectsStrings } from '../en/projects.ts';

export const projectsSpanish: ProjectsStrings = {
  projectsOfConversation: (title) => `Proyectos de «${title}»`,
  newProject: 'Nuevo proyecto',
  addProject: 'Añadir',
  done: 'Listo',
  title: (project) => `Proyecto «${project}»`,
  hint: 'Cada chat de este proyecto usa estas instrucciones y estos archivos. Solo tú puedes verlos. Los modelos solo reciben archivos de los tipos que aceptan.',
  instructions: 'Instrucciones',
  files: 'Archivos',
  addFiles: 'Añadir archivos…',
  saved: 'Guardado. El próximo mensaje de cada chat de este proyecto lo usa.',
};
