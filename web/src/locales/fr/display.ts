import type { DisplayStrings } from '../en/display.ts';

export const displayFrench: DisplayStrings = {
  textSize: 'Taille du texte',
  textSizes: { small: 'Petite', medium: 'Moyenne', large: 'Grande', largest: 'Très grande' },
  density: 'Espacement',
  densities: { roomy: 'Aéré', compact: 'Resserré' },
  contrast: 'Contraste',
  contrasts: { system: 'Comme le système', more: 'Élevé' },
  motion: 'Animations',
  motions: { system: 'Comme le système', less: 'Réduites' },
  notifications: 'Quand une réponse est prête',
  notificationsOff: 'Aucune notification',
  notificationsOn: 'Me prévenir',
  notificationsHint: 'Seulement quand vous ne regardez pas cette page.',
  notificationsBlocked:
    'Le navigateur bloque les notifications de cette page. Autorisez-les dans les paramètres du navigateur pour ce site.',
  followUps: 'Questions de suivi',
  followUpsOff: 'Aucune suggestion',
  followUpsOn: 'Suggérer des questions',
  followUpsHint: (model) => `Après chaque réponse, ${model} suggère jusqu’à trois questions. Cela compte dans votre utilisation.`,
  dictation: 'Dictée',
  dictationOff: 'Désactivée',
  dictationOnDevice: 'Sur cet appareil',
  dictationOnline: 'En ligne si nécessaire',
  dictationHints: {
    off: 'Aucun bouton de micro n’est affiché. Vous tapez vos messages.',
    onDevice: 'Un micro apparaît à côté du message si votre navigateur peut transformer la parole en texte sur cet appareil.',
    online:
      'Si votre navigateur ne peut pas transformer la voix en texte sur cet appareil, votre voix est envoyée à l’éditeur du navigateur. Ne dictez rien que cet éditeur ne doive pas entendre.',
  },
};
