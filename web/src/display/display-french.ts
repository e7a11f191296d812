import type { DisplayWords } from './display-english.ts';

export const displayFrench: DisplayWords = {
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
};
