import type { BackgroundStrings } from './background-english.ts';

export const backgroundSpanish: BackgroundStrings = {
  title: 'Respuestas en segundo plano',
  intro:
    'Lo que programas hicieron responder en tu nombre sin que nadie esperara. Una respuesta continúa aunque su programa se vaya, y se guarda aquí.',
  noAnswers: 'Aún no hay ninguna. Un programa pide una con «background: true» en la API Responses.',
  noStore: 'Este servicio no guarda respuestas.',
  all: 'Todas las respuestas en segundo plano',
  showMore: 'Mostrar más',
  noQuestionText: 'Sin pregunta en palabras',
  states: {
    queued: 'En espera',
    in_progress: 'En curso',
    completed: 'Lista',
    incomplete: 'Cortada',
    failed: 'Fallida',
    cancelled: 'Detenida',
  },
  stop: 'Detener',
  remove: 'Eliminar',
  removeQuestion: '¿Eliminar esta respuesta definitivamente? Un programa que aún la siga sabrá que ya no existe.',
  goOn: 'Continuar en una conversación',
  removed: 'La respuesta se ha eliminado.',
  stopped: 'La respuesta se ha detenido.',
  ended: 'La respuesta está lista.',
  again: 'Se perdió la conexión; retomando el seguimiento…',
  notFound: 'Esta respuesta no existe: se eliminó, caducó o pertenece a otra persona.',
  instructions: 'Instrucciones que recibió',
};
