import type { QueueStrings } from '../../en/chat/queue.ts';

export const queueSpanish: QueueStrings = {
  label: 'Mensajes en espera',
  soon: 'Se envía cuando termine esta respuesta',
  onHold: 'No enviado, porque la respuesta anterior no está completa',
  queued: 'Tu mensaje espera hasta que termine esta respuesta.',
  now: 'Enviar ahora',
  nowStops: 'Enviar ahora y detener la respuesta en curso',
  edit: 'Editar este mensaje',
  drop: 'No enviar',
};
