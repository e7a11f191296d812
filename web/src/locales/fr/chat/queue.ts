import type { QueueStrings } from '../../en/chat/queue.ts';

export const queueFrench: QueueStrings = {
  label: 'Messages en attente',
  soon: 'Envoyé quand cette réponse sera complète',
  onHold: 'Non envoyé, car la réponse précédente n’est pas complète',
  queued: 'Votre message attend que cette réponse soit complète.',
  now: 'Envoyer maintenant',
  nowStops: 'Envoyer maintenant et arrêter la réponse en cours',
  edit: 'Modifier ce message',
  drop: 'Ne pas envoyer',
};
