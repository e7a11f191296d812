import type { AnswerStrings } from './answer-english.ts';

export const answerSpanish: AnswerStrings = {
  continueAnswer: 'Continuar',
  continueAnswerHint: 'Continúa la respuesta donde terminó',
  editAnswer: 'Editar esta respuesta',
  saveEdit: 'Guardar',
  editHint:
    'Tu texto sustituye a esta respuesta cuando continúas la conversación. La respuesta original queda como otra versión.',
  editHintEarlier: 'Los mensajes posteriores a esta respuesta se quedan con esa versión.',
  suggestions: 'Qué preguntar ahora',
};
