import type { DisplayStrings } from './display-english.ts';

export const displayFrench: DisplayStrings = {
  textSize: 'Taille du texte',
  textSizes: { small: 'Petite', medium: 'Moyenne', large: 'Grande', largest: 'Très grande' },
  density: 'Espacement',
  densities: { roomy: 'Aéré', compact: 'Resserré' },
  contrast: 'Contraste',
  contrasts: { system: 'Comme le système', more: 'Élevé' },
  motion: 'Animations',
  motions: { system: 'Comme le système', less: 'Réduites' },
  notices: 'Quand une réponse est prête',
  noticesOff: 'Ne rien dire',
  noticesOn: 'Me prévenir',
  noticesWhen: 'Seulement lorsque vous regardez autre chose.',
  noticesRefused: 'Le navigateur n’autorise pas les notifications de cette page. Autorisez-les dans ses paramètres pour ce site.',
  followUps: 'Que demander ensuite',
  followUpsOff: 'Ne rien suggérer',
  followUpsOn: 'Suggérer des questions',
  followUpsMean: (model) => `Après chaque réponse, on demande à ${model} jusqu’à trois questions. Cela consomme vos tokens.`,
  dictation: 'Dictée',
  dictationOff: 'Désactivée',
  dictationMachine: 'Sur cet appareil',
  dictationMaker: 'Aussi chez l’éditeur du navigateur',
  dictationMeans: {
    off: 'Les messages se tapent au clavier.',
    machine: 'Un micro se trouve à côté du message si votre navigateur transforme lui-même la parole en texte.',
    maker:
      'Là où votre navigateur n’y arrive pas seul, ce que vous dites est envoyé à son éditeur, qui le transforme en texte. Ne dictez rien qu’il ne doive entendre.',
  },
};
