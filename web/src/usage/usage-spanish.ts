import { pluralIn } from '../words/plural.ts';
import type { LimitKind, Period } from './read-limits.ts';
import type { UsageWords } from './usage-english.ts';

const plural = pluralIn('es');
const units: Readonly<Record<LimitKind, string>> = { Token: 'Tokens', Request: 'Solicitudes', Cost: 'USD' };
const periods: Readonly<Record<Period, string>> = {
  minute: 'por minuto',
  hour: 'por hora',
  day: 'por día',
  week: 'por semana',
  month: 'por mes',
};

export const usageSpanish: UsageWords = {
  title: 'Uso',
  refresh: 'Actualizar',
  limits: 'Tus límites',
  noLimits: 'No se te aplica ningún límite.',
  allDeployments: 'Todos los modelos y aplicaciones',
  limitName: (kind, period) => `${units[kind]} ${periods[period]}`,
  ofTotal: (used, total) => `${used} de ${total}`,
  left: (left) => `quedan ${left}`,
  usedUp: 'agotado',
  resets: (when) => `se renueva ${when}`,
  moreLimits: (count) => (count === 1 ? 'Un modelo más' : `${count} modelos más`),

  used: 'Lo que se ha usado',
  scope: 'De quién',
  own: 'Tuyo',
  all: 'De todos',
  range: 'Días',
  lastDays: (count) => `${count} ${plural(count, 'día', 'días')}`,
  custom: 'Otros días',
  from: 'Desde',
  to: 'Hasta',
  badRange: 'Elige un primer día que no sea posterior al último, y como máximo 366 días en total.',
  measure: 'Mostrar',
  cost: 'Coste',
  tokens: 'Tokens',
  calls: 'Llamadas',
  tokensIn: 'Tokens de entrada',
  tokensOut: 'Tokens de salida',
  answered: 'Respondidas',
  refused: 'Rechazadas',
  failed: 'Fallidas',
  summary: (calls, tokens, cost) =>
    `${calls} ${plural(calls, 'llamada', 'llamadas')}, ${tokens} ${plural(tokens, 'token', 'tokens')}, ${cost}`,
  nothing: 'En estos días no se usó nada.',
  chart: (measure) => `${measure} por día`,
  stackedBy: 'Barras por',
  ofDeployments: 'Modelos y aplicaciones',
  ofKinds: 'Tipos',
  ofPeople: 'Personas',
  ofProjects: 'Proyectos',
  others: 'Todos los demás',
  nobody: 'sin nombre',
  chartCut: 'Hay más de lo que cabe aquí: elige menos días para verlo todo.',
  asTable: 'Como tabla',
  day: 'Día',
  byDeployment: 'Por modelo y aplicación',
  deployment: 'Modelo o aplicación',
  byPerson: 'Por persona',
  person: 'Persona',
  innerNote:
    'Las llamadas y los tokens de una aplicación incluyen los de aquello a lo que llamó, que también figura aquí: las barras y las filas suman más que el total de arriba. Su coste aparece junto al modelo.',
  utcNote: 'Los días son los de UTC.',
  cutNote: (count) => `Estos son los primeros ${count}. El resto está en la descarga.`,
  csv: 'Descargar como CSV',
  csvCut: (count) => `La descarga contiene solo las primeras ${count} filas. Elige menos días para tenerlas todas.`,
};
