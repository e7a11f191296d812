import type { BackgroundStrings } from '../en/background.ts';

export const backgroundSpanish: BackgroundStrings = {
  title: 'Respuestas en segundo plano',
  intro:
    'Respuestas que programas pidieron en tu nombre en segundo plano. Una respuesta continúa si su programa se desconecta, y se guarda aquí.',
  noAnswers:
    'Aún no hay respuestas en segundo plano. Los programas pueden pedirlas. Para desarrolladores: «background: true» en la API Responses.',
  noStore: 'Este servicio no guarda respuestas. Tu administrador puede configurar un almacenamiento.',
  all: 'Todas las respuestas en segundo plano',
  showMore: 'Mostrar más',
  noQuestionText: 'Pregunta sin texto',
  states: {
    queued: 'En espera',
    in_progress: 'En curso',
    completed: 'Lista',
    incomplete: 'Incompleta',
    failed: 'Fallida',
    cancelled: 'Detenida',
  },
  stop: 'Detener',
  remove: 'Eliminar',
  removeQuestion: '¿Eliminar esta respuesta definitivamente? Un programa que aún la espera recibe un aviso de que se eliminó.',
  continueInChat: 'Continuar en una conversación',
  removed: 'La respuesta se ha eliminado.',
  stopped: 'La respuesta se ha detenido.',
  ready: 'La respuesta está lista.',
  reconnecting: 'Se perdió la conexión. Reconectando…',
  notFound: 'No se encontró esta respuesta. Se eliminó, caducó o pertenece a otro usuario.',
  instructions: 'Instrucciones',
};
