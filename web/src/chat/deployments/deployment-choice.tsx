import { type ReactNode, useId, useState } from 'react';
import { usePage } from '../../page/page.tsx';
import { Icon } from '../../parts/icon.tsx';
import { isComposing } from '../../parts/is-composing.ts';
import { moveFocus } from '../../parts/move-focus.ts';
import { Segments } from '../../parts/segments.tsx';
import { useShownDialog } from '../../parts/use-shown-dialog.ts';
import { type Deployment, makers } from '../../service/deployments.ts';
import { useLanguage, useWords, useWordsOf } from '../../words/words.tsx';
import { readFavourites, readRecent, toggleFavourite } from './favourites.ts';
import './deployment-dialog.css';
import { sharedBy } from '../../words/shared-by.ts';
import { DeploymentIcon } from './deployment-icon.tsx';
import { type PickerWords, pickerEnglish } from './picker-english.ts';
import { pickerFrench } from './picker-french.ts';
import { pickerGerman } from './picker-german.ts';
import { pickerSpanish } from './picker-spanish.ts';

export interface DeploymentChoiceProps {
  readonly title: string;
  readonly chosen: string | undefined;
  readonly pick: (id: string) => void;
  readonly close: () => void;
}

const kinds = ['all', 'models', 'applications', 'files', 'tools'] as const;
type Kind = (typeof kinds)[number];

/** Fewer are seen at a glance: they need neither kinds nor those that were used last. */
const fewDeployments = 8;

/** Chooses among all that the user may talk to. */
export function DeploymentChoice({ title, chosen, pick, close }: DeploymentChoiceProps) {
  const words = useWords();
  const own = usePickerWords();
  const { deployments } = usePage();
  const { dialog, leave } = useShownDialog(close);
  const [query, setQuery] = useState('');
  const [kind, setKind] = useState<Kind>('all');
  const [favourites, setFavourites] = useState(readFavourites);
  const heading = useId();
  const kindNames: Readonly<Record<Kind, string>> = {
    all: own.kindAll,
    models: own.kindModels,
    applications: own.kindApplications,
    files: own.kindFiles,
    tools: own.kindTools,
  };
  const heads = {
    favourites: own.favourites,
    recent: own.usedLast,
    operator: own.ofTheService,
    self: words.yours,
    other: words.sharedByOthers,
  };
  const isLong = deployments.length > fewDeployments;
  const sections = toSections(
    rankedBy(
      query,
      deployments.filter((each) => isAbout(each, query) && isOfKind(each, kind)),
    ),
    { favourites, recent: isLong && query === '' && kind === 'all' ? readRecent() : [] },
  );
  const [first] = sections.flatMap(({ items }) => items);
  const choose = (id: string): void => {
    leave();
    pick(id);
  };
  return (
    <dialog
      {...{ ref: dialog, className: 'picker-dialog', 'aria-labelledby': heading, closedby: 'any' }}
      onKeyDown={(event) => moveFocus(event, 'input[type="search"], .option, .option-version')}
    >
      <div className="picker-body">
        <h2 id={heading}>{title}</h2>
        <div className="search">
          <Icon name="search" />
          <input
            {...{ type: 'search', value: query, placeholder: own.searchDeployments, 'aria-label': own.searchDeployments }}
            onChange={({ target }) => setQuery(target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || first === undefined || isComposing(event.nativeEvent)) return;
              event.preventDefault();
              choose(first.id);
            }}
          />
        </div>
        {isLong && (
          <Segments
            name={own.deploymentKind}
            value={kind}
            options={kinds.map((each) => [each, kindNames[each]])}
            choose={setKind}
          />
        )}
        {first === undefined && <p className="soft">{words.noDeploymentFound(query)}</p>}
        {sections.map(({ name, items }) => (
          <Section key={name} head={sections.some((each) => each.name !== 'operator') ? heads[name] : ''}>
            {toFamilies(items, chosen).map((family) => {
              const [{ id }] = family;
              return (
                <DeploymentOption
                  key={id}
                  {...{ family, pick: choose, isChosen: id === chosen, isFavourite: favourites.includes(id) }}
                  favour={() => setFavourites(toggleFavourite(id))}
                />
              );
            })}
          </Section>
        ))}
      </div>
    </dialog>
  );
}

/** Where there is no other section, none needs a head. */
function Section({ head, children }: { readonly head: string; readonly children: ReactNode }) {
  const label = useId();
  return (
    <section aria-labelledby={head === '' ? undefined : label}>
      {head !== '' && (
        <h3 id={label} className="overline">
          {head}
        </h3>
      )}
      <ul>{children}</ul>
    </section>
  );
}

/** Each deployment stands once: among the favourites, those used last, or those of its maker. */
function toSections(found: readonly Deployment[], first: Readonly<Record<'favourites' | 'recent', readonly string[]>>) {
  const ranked = Map.groupBy(found, ({ id, maker }) => {
    if (first.favourites.includes(id)) return 'favourites' as const;
    return first.recent.includes(id) ? ('recent' as const) : maker;
  });
  const recent = ranked.get('recent')?.toSorted((one, other) => first.recent.indexOf(one.id) - first.recent.indexOf(other.id));
  if (recent !== undefined) ranked.set('recent', recent);
  return (['favourites', 'recent', ...makers] as const).flatMap((name) => {
    const items = ranked.get(name);
    return items === undefined ? [] : [{ name, items }];
  });
}

/** What is called so comes first, then what begins so. */
function rankedBy(query: string, found: readonly Deployment[]): readonly Deployment[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === '') return found;
  const rankOf = ({ name }: Deployment): number => {
    const own = name.toLowerCase();
    return own === wanted ? 0 : own.startsWith(wanted) ? 1 : 2;
  };
  return found.toSorted((one, other) => rankOf(one) - rankOf(other));
}

function isOfKind({ isApplication, attachmentTypes = [], hasTools }: Deployment, kind: Kind): boolean {
  const holds: Readonly<Record<Kind, boolean>> = {
    all: true,
    models: !isApplication,
    applications: isApplication,
    files: attachmentTypes.length > 0,
    tools: hasTools,
  };
  return holds[kind];
}

function isAbout({ id, name, version = '', description }: Deployment, query: string): boolean {
  const all = `${id} ${name} ${version} ${description}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

interface DeploymentOptionProps {
  /** The one that is offered, then other versions of it. */
  readonly family: readonly [Deployment, ...Deployment[]];
  readonly isChosen: boolean;
  readonly isFavourite: boolean;
  readonly pick: (id: string) => void;
  readonly favour: () => void;
}

/** One that may be chosen: who it is, what it does, what it costs and reads, and whether it stands first. */
function DeploymentOption({ family, isChosen, isFavourite, pick, favour }: DeploymentOptionProps) {
  const { words, language } = useLanguage();
  const [deployment] = family;
  const own = usePickerWords();
  const { id, name, version, description, isApplication, requiresConsent, pricing, contextTokens } = deployment;
  const sharer = sharedBy(deployment, words);
  const usd = (amount: number): string =>
    (amount * 1e6).toLocaleString(language, { style: 'currency', currency: 'USD', maximumFractionDigits: 2 });
  const facts = [
    pricing !== undefined &&
      pricing.prompt + pricing.completion > 0 &&
      own.pricePerMillion(usd(pricing.prompt), usd(pricing.completion)),
    contextTokens !== undefined && own.readsTokens(contextTokens.toLocaleString(language)),
  ].filter((fact) => fact !== false);
  const starName = isFavourite ? own.unfavour(name) : own.favour(name);
  return (
    <li className="option-row">
      <button type="button" className="option" aria-current={isChosen || undefined} onClick={() => pick(id)}>
        <DeploymentIcon deployment={deployment} />
        <span className="option-text">
          <span className="option-name">
            {name}
            {version !== undefined && <span className="soft">{version}</span>}
            {isApplication && <span className="tag">{words.application}</span>}
            {requiresConsent && (
              <span className="tag warm">
                <Icon name="shield" />
                {own.needsConsent}
              </span>
            )}
          </span>
          {description !== '' && <span className="soft small">{description}</span>}
          {facts.length > 0 && <span className="soft small">{facts.join(' · ')}</span>}
          {sharer !== '' && <span className="option-sharer small">{sharer}</span>}
        </span>
      </button>
      <button
        {...{ type: 'button', className: 'icon-button star', 'aria-label': starName, title: starName }}
        data-favourite={isFavourite || undefined}
        onClick={favour}
      >
        <Icon name="star" />
      </button>
      {family.length > 1 && <Versions {...{ family, pick }} />}
    </li>
  );
}

/** All versions of what is offered, each to choose. */
function Versions({ family, pick }: Pick<DeploymentOptionProps, 'family' | 'pick'>) {
  const own = usePickerWords();
  const [shown] = family;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be announced as part of a form
    <div className="option-versions small" role="group" aria-label={own.versionsOf(shown.name)}>
      {versionsOf(family).map(({ id, version }) => (
        <button
          key={id}
          {...{ type: 'button', className: 'option-version', onClick: () => pick(id) }}
          aria-current={id === shown.id || undefined}
        >
          {version}
        </button>
      ))}
    </div>
  );
}

/**
 * Deployments of one name with versions are versions of one thing (docs/wire.md, Listings): each family is given where its first
 * one stands, with the chosen one first, else the latest. What other users shared is never of the family of another.
 */
export function toFamilies(
  deployments: readonly Deployment[],
  chosen: string | undefined,
): readonly (readonly [Deployment, ...Deployment[]])[] {
  const families = Map.groupBy(deployments, ({ id, name, version, maker }) =>
    version === undefined || maker === 'other' ? id : `${maker} ${name}`,
  );
  return [...families.values()].flatMap((family) => {
    const sorted = family.toSorted((one, other) => compareVersions(other.version, one.version));
    const first = sorted.find(({ id }) => id === chosen) ?? sorted[0];
    return first === undefined ? [] : [[first, ...sorted.filter((each) => each !== first)] as const];
  });
}

/** The versions of a family in their order, the latest first. */
function versionsOf(family: readonly Deployment[]): readonly Deployment[] {
  return family.toSorted((one, other) => compareVersions(other.version, one.version));
}

function compareVersions(one = '', other = ''): number {
  return one.localeCompare(other, undefined, { numeric: true });
}

/** What the choice of a deployment says; apart from the other words, so that it is loaded when it is opened. */
function usePickerWords(): PickerWords {
  return useWordsOf({ en: pickerEnglish, de: pickerGerman, fr: pickerFrench, es: pickerSpanish });
}
