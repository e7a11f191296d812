import type { AnswerStrings } from './answer-english.ts';

export const answerSpanish: AnswerStrings = {
  goOn: 'Continuar',
  goOnHint: 'Hace que la respuesta siga donde terminó',
  editAnswer: 'Cambiar esta respuesta',
  keepEdit: 'Guardar mi texto',
  editHint:
    'Tu texto ocupa el lugar de esta respuesta y se lee como tal al continuar. La respuesta misma queda como otra versión.',
  editHintEarlier: 'Lo que sigue a esta respuesta se queda con esa versión.',
  suggestions: 'Qué preguntar ahora',
};
