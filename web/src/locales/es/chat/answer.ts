import type { AnswerStrings } from '../../en/chat/answer.ts';

export const answerSpanish: AnswerStrings = {
  continueAnswer: 'Continuar',
  continueAnswerHint: 'Continúa la respuesta donde terminó',
  editAnswer: 'Editar esta respuesta',
  saveEdit: 'Guardar',
  editHint:
    'Tu texto sustituye a esta respuesta cuando continúas la conversación. La respuesta original queda como otra versión.',
  editHintEarlier: 'Los mensajes posteriores a esta respuesta se quedan con la versión original.',
  fork: 'Continuar desde aquí en una conversación nueva',
  forkTitle: (title) => `${title} (copia)`,
  contextUsed: (percent) => `${percent} de la longitud máxima`,
  contextTokens: (used, all) => `${used} de los ${all} tokens que el modelo puede leer`,
  costOfChat: (amount) => `${amount} en total`,
  usageOfChat: 'Tokens y coste de esta conversación',
  suggestions: 'Qué preguntar ahora',
};
