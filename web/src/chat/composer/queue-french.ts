import type { QueueStrings } from './queue-english.ts';

export const queueFrench: QueueStrings = {
  label: 'Messages en attente',
  soon: 'Envoyé quand cette réponse sera complète',
  onHold: 'Non envoyé : la réponse précédente n’était pas complète',
  queued: 'Votre message attend que cette réponse soit complète.',
  now: 'Envoyer maintenant',
  nowStops: 'Envoyer maintenant : cela met fin à la réponse en cours',
  edit: 'Modifier ce message',
  drop: 'Ne pas envoyer',
};
