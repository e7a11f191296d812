import type { DisplayStrings } from '../en/display.ts';

export const displaySpanish: DisplayStrings = {
  textSize: 'Tamaño del texto',
  textSizes: { small: 'Pequeño', medium: 'Mediano', large: 'Grande', largest: 'Muy grande' },
  density: 'Espaciado',
  densities: { roomy: 'Amplio', compact: 'Compacto' },
  contrast: 'Contraste',
  contrasts: { system: 'Como el sistema', more: 'Alto' },
  motion: 'Animaciones',
  motions: { system: 'Como el sistema', less: 'Reducidas' },
  notifications: 'Cuando una respuesta está lista',
  notificationsOff: 'Sin avisos',
  notificationsOn: 'Avisarme',
  notificationsHint: 'Solo cuando no estás mirando esta página.',
  notificationsBlocked:
    'El navegador bloquea los avisos de esta página. Permítelos en la configuración del navegador para este sitio.',
  followUps: 'Preguntas de seguimiento',
  followUpsOff: 'Sin sugerencias',
  followUpsOn: 'Sugerir preguntas',
  followUpsHint: (model) => `Después de cada respuesta, ${model} sugiere hasta tres preguntas. Esto cuenta en tu uso.`,
  dictation: 'Dictado',
  dictationOff: 'Desactivado',
  dictationOnDevice: 'En este dispositivo',
  dictationOnline: 'En línea si hace falta',
  dictationHints: {
    off: 'No se muestra ningún botón de micrófono. Escribes tus mensajes.',
    onDevice: 'Junto al mensaje aparece un micrófono si tu navegador puede convertir la voz en texto en este dispositivo.',
    online:
      'Si tu navegador no puede convertir la voz en texto en este dispositivo, tu voz se envía al fabricante del navegador. No dictes nada que el fabricante no deba oír.',
  },
};
