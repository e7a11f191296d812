import type { DisplayStrings } from './display-english.ts';

export const displaySpanish: DisplayStrings = {
  textSize: 'Tamaño del texto',
  textSizes: { small: 'Pequeño', medium: 'Mediano', large: 'Grande', largest: 'Muy grande' },
  density: 'Espaciado',
  densities: { roomy: 'Amplio', compact: 'Compacto' },
  contrast: 'Contraste',
  contrasts: { system: 'Como el sistema', more: 'Alto' },
  motion: 'Animaciones',
  motions: { system: 'Como el sistema', less: 'Reducidas' },
  notices: 'Cuando una respuesta está lista',
  noticesOff: 'No decir nada',
  noticesOn: 'Avisarme',
  noticesWhen: 'Solo mientras miras otra cosa.',
  noticesRefused: 'El navegador no permite los avisos de esta página. Permítelos en su configuración de este sitio.',
  followUps: 'Qué preguntar después',
  followUpsOff: 'No sugerir nada',
  followUpsOn: 'Sugerir preguntas',
  followUpsMean: (model) => `Tras cada respuesta se piden a ${model} hasta tres preguntas. Eso consume tus tokens.`,
  dictation: 'Dictado',
  dictationOff: 'Desactivado',
  dictationMachine: 'En este equipo',
  dictationMaker: 'También por el fabricante del navegador',
  dictationMeans: {
    off: 'Los mensajes se escriben.',
    machine: 'Junto al mensaje hay un micrófono si tu navegador convierte la voz en texto por sí mismo.',
    maker:
      'Donde tu navegador no puede hacerlo por sí mismo, lo que dices se envía a su fabricante, que lo convierte en texto. No dictes lo que no deba oír.',
  },
};
