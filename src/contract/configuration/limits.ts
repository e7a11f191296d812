import { type Static, Type } from 'typebox';
import { isTagName, isTagValue, maxTagChars, maxTags } from '../tags.ts';
import { buildRecord, fieldBounds, strict, texts, time } from './fields.ts';
import { isTimeZone } from './values.ts';

const count = (what: string) =>
  Type.Optional(Type.Integer({ description: `${what}. Default: unlimited. 0 or less: no access.` }));
const money = (window: string) =>
  Type.Optional(Type.Number({ description: `Maximum USD ${window}. Default: unlimited. 0 or less: no access.` }));

const tokensAndRequests = {
  minute: count('Maximum tokens a minute'),
  day: count('Maximum tokens a day'),
  week: count('Maximum tokens a week'),
  month: count('Maximum tokens a month'),
  requestMinute: count('Maximum requests a minute'),
  requestHour: count('Maximum requests an hour'),
  requestDay: count('Maximum requests a day'),
  maxParallel: count('Maximum calls in progress'),
};

/** Limits on one deployment. */
export const DeploymentLimit = strict(tokensAndRequests, { description: 'Limits for one deployment. Weeks start on Monday.' });
export type DeploymentLimit = Static<typeof DeploymentLimit>;

const budgets = { day: money('a day'), week: money('a week'), month: money('a month'), year: money('a year') };

/** Maximum cost per user of a role. */
export const CostLimit = strict(budgets, {
  description: 'Cost limit for all deployments. Default: the cost limit of the role `default`, or unlimited.',
});
export type CostLimit = Static<typeof CostLimit>;

/** Calendar of the windows of one project, key, or user. */
const LimitReset = strict(
  {
    dayOfMonth: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 31,
        description: 'First day of months and years. A shorter month starts on its last day. Default: 1.',
      }),
    ),
    month: Type.Optional(Type.Integer({ minimum: 1, maximum: 12, description: 'First month of years. Default: 1.' })),
    timeZone: Type.Optional(
      Type.Refine(
        Type.String({ maxLength: 64, description: 'IANA time zone of days, weeks, months, and years. Default: UTC.' }),
        isTimeZone,
        () => 'must be a time zone of the IANA database, such as Europe/Zurich',
      ),
    ),
  },
  { description: 'Calendar of the windows, except minutes and hours. Default: the UTC calendar.' },
);
export type LimitReset = Static<typeof LimitReset>;

/** Fields that set the limits of a project, a key, or a user. */
export const limitSettings = {
  limits: Type.Optional(
    buildRecord(DeploymentLimit, {
      by: 'deployment ID or *',
      maxProperties: fieldBounds.maxProperties,
      description: 'Limits by deployment ID. `*` applies to every other deployment. Default: unlimited.',
    }),
  ),
  totals: Type.Optional(strict(tokensAndRequests, { description: 'Limits for all deployments together. Default: unlimited.' })),
  costLimit: Type.Optional(strict(budgets, { description: 'Cost limit for all deployments together. Default: unlimited.' })),
  reset: Type.Optional(LimitReset),
};

/** Limits of a project, a key, or a user. */
export type LimitSettings = Readonly<Partial<Pick<ProjectEntry, keyof typeof limitSettings>>>;

/** Returns whether an entry sets limits. Most keys set none. */
export function hasLimits({ limits, totals, costLimit }: LimitSettings): boolean {
  return limits !== undefined || totals !== undefined || costLimit !== undefined;
}

const tagWord = (isValid: (text: string) => boolean) =>
  Type.Refine(
    Type.String({ maxLength: maxTagChars }),
    isValid,
    () => `must have at most ${maxTagChars} printable ASCII characters, without commas, and without spaces around them`,
  );

/** A project. Keys and tokens belong to it by its name. */
export const ProjectEntry = strict(
  {
    ...limitSettings,
    owners: Type.Optional(
      texts({ description: 'IDs of the users who can read the usage of the project and create keys in it. Default: none.' }),
    ),
    tags: Type.Optional(
      Type.Refine(
        buildRecord(tagWord(isTagValue), {
          by: 'tag',
          maxProperties: maxTags,
          description: 'Tags of its calls in usage records. A tag of a request replaces one of the same name. Default: none.',
        }),
        (tags) => Object.keys(tags).every(isTagName),
        () => `has a tag whose name is not 1 to ${maxTagChars} letters, digits, and _.:/@-`,
      ),
    ),
  },
  { description: 'A project. Parley counts its total use and the use of each of its users.' },
);
export type ProjectEntry = Static<typeof ProjectEntry>;

/** Limits of one user. */
export const UserEntry = strict(limitSettings, {
  description: 'Limits of one user, in addition to the limits of the user’s roles.',
});
export type UserEntry = Static<typeof UserEntry>;

/** Kinds of things whose counters can be reset, by the start of their names in `limitResets`. */
export const resetKinds = ['project', 'key', 'user'] as const;

/** A reset of all counters of a project, a key, or a user. */
export const LimitResetEntry = strict(
  { at: time('Time of the last reset. Usage of calls that started earlier no longer counts.') },
  { description: 'The last reset of the counters of a project, a key, or a user.' },
);
export type LimitResetEntry = Static<typeof LimitResetEntry>;
