import type { QueueStrings } from './queue-english.ts';

export const queueSpanish: QueueStrings = {
  label: 'Mensajes en espera',
  soon: 'Se envía cuando termine esta respuesta',
  onHold: 'No enviado: la respuesta anterior no estaba completa',
  queued: 'Tu mensaje espera hasta que termine esta respuesta.',
  now: 'Enviar ahora',
  nowStops: 'Enviar ahora: esto termina la respuesta en curso',
  edit: 'Cambiar este mensaje',
  drop: 'No enviar',
};
