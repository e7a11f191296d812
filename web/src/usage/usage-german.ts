import type { LimitKind, Period } from './read-limits.ts';
import type { UsageWords } from './usage-english.ts';

const units: Readonly<Record<LimitKind, string>> = { Token: 'Token', Request: 'Anfragen', Cost: 'USD' };
const periods: Readonly<Record<Period, string>> = {
  minute: 'in der Minute',
  hour: 'in der Stunde',
  day: 'am Tag',
  week: 'in der Woche',
  month: 'im Monat',
};

export const usageGerman: UsageWords = {
  title: 'Verbrauch',
  refresh: 'Aktualisieren',
  limits: 'Deine Grenzen',
  noLimits: 'Für dich gelten keine Grenzen.',
  allDeployments: 'Alles zusammen',
  limitName: (kind, period) => `${units[kind]} ${periods[period]}`,
  ofTotal: (used, total) => `${used} von ${total}`,
  left: (left) => `${left} übrig`,
  usedUp: 'verbraucht',
  resets: (when) => `beginnt neu ${when}`,
  moreLimits: (count) => (count === 1 ? 'Noch eines' : `Noch ${count} weitere`),

  used: 'Was verbraucht wurde',
  scope: 'Wessen',
  own: 'Deiner',
  all: 'Aller',
  range: 'Tage',
  lastDays: (count) => `${count} Tage`,
  custom: 'Andere Tage',
  from: 'Von',
  to: 'Bis',
  badRange: 'Wähle einen ersten Tag, der nicht nach dem letzten liegt, höchstens 366 Tage insgesamt.',
  measure: 'Zeige',
  cost: 'Kosten',
  tokens: 'Token',
  calls: 'Aufrufe',
  tokensIn: 'Token hinein',
  tokensOut: 'Token heraus',
  answered: 'Beantwortet oder abgelehnt',
  failed: 'Gescheitert',
  summary: (calls, tokens, cost) => `${calls} ${calls === '1' ? 'Aufruf' : 'Aufrufe'}, ${tokens} Token, ${cost}`,
  nothing: 'An diesen Tagen wurde nichts verbraucht.',
  chart: (measure) => `${measure} nach Tagen`,
  asTable: 'Als Tabelle',
  day: 'Tag',
  byDeployment: 'Nach Modell und Anwendung',
  deployment: 'Modell oder Anwendung',
  byPerson: 'Nach Person',
  person: 'Person',
  innerNote:
    'Aufrufe und Token einer Anwendung enthalten, was sie selbst aufgerufen hat; das steht hier auch für sich. Was das gekostet hat, steht beim Modell.',
  utcNote: 'Tage sind die der UTC.',
  cutNote: (count) => `Das sind die ersten ${count}. Der Rest steht im Download.`,
  csv: 'Als CSV herunterladen',
  csvCut: (count) => `Der Download enthält nur die ersten ${count} Zeilen. Wähle weniger Tage, um alle zu bekommen.`,
};
