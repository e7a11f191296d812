import { pluralIn } from '../words/plural.ts';
import type { LimitKind, Period } from './read-limits.ts';
import type { UsageWords } from './usage-english.ts';

const plural = pluralIn('fr');
const units: Readonly<Record<LimitKind, string>> = { Token: 'Tokens', Request: 'Requêtes', Cost: 'USD' };
const periods: Readonly<Record<Period, string>> = {
  minute: 'par minute',
  hour: 'par heure',
  day: 'par jour',
  week: 'par semaine',
  month: 'par mois',
};

export const usageFrench: UsageWords = {
  title: 'Utilisation',
  refresh: 'Actualiser',
  limits: 'Vos limites',
  noLimits: 'Aucune limite ne s’applique à vous.',
  allDeployments: 'Tous les modèles et applications',
  limitName: (kind, period) => `${units[kind]} ${periods[period]}`,
  ofTotal: (used, total) => `${used} sur ${total}`,
  left: (left) => `reste ${left}`,
  usedUp: 'épuisé',
  resets: (when) => `se renouvelle ${when}`,
  moreLimits: (count) => (count === 1 ? 'Un modèle de plus' : `${count} modèles de plus`),

  used: 'Ce qui a été utilisé',
  scope: 'Par qui',
  own: 'Par vous',
  all: 'Par tous',
  range: 'Jours',
  lastDays: (count) => `${count} ${plural(count, 'jour', 'jours')}`,
  custom: 'Autres jours',
  from: 'Du',
  to: 'Au',
  badRange: 'Choisissez un premier jour qui ne suit pas le dernier, et 366 jours au plus en tout.',
  measure: 'Afficher',
  cost: 'Coût',
  tokens: 'Tokens',
  calls: 'Appels',
  tokensIn: 'Tokens en entrée',
  tokensOut: 'Tokens en sortie',
  answered: 'Répondus',
  refused: 'Refusés',
  failed: 'En échec',
  summary: (calls, tokens, cost) =>
    `${calls} ${plural(calls, 'appel', 'appels')}, ${tokens} ${plural(tokens, 'token', 'tokens')}, ${cost}`,
  nothing: 'Rien n’a été utilisé ces jours-là.',
  chart: (measure) => `${measure} par jour`,
  stackedBy: 'Barres par',
  ofDeployments: 'Modèles et applications',
  ofKinds: 'Types',
  ofPeople: 'Personnes',
  ofProjects: 'Projets',
  others: 'Tous les autres',
  nobody: 'sans nom',
  chartCut: 'Il y en a plus que ce qui tient ici : choisissez moins de jours pour tout voir.',
  asTable: 'En tableau',
  day: 'Jour',
  byDeployment: 'Par modèle et application',
  deployment: 'Modèle ou application',
  byPerson: 'Par personne',
  person: 'Personne',
  innerNote:
    'Les appels et tokens d’une application comprennent ceux de ce qu’elle a appelé, qui figurent aussi ici : le total des barres et des lignes dépasse la somme ci-dessus. Leur coût est indiqué avec le modèle.',
  utcNote: 'Les jours sont ceux de l’UTC.',
  cutNote: (count) => `Voici les ${count} premiers. Le reste se trouve dans le fichier téléchargé.`,
  csv: 'Télécharger en CSV',
  csvCut: (count) => `Le fichier ne contient que les ${count} premières lignes. Choisissez moins de jours pour les avoir toutes.`,
};
