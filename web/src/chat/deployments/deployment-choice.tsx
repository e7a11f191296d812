import { type ReactNode, useId, useState } from 'react';
import { includesAll, splitWords } from '../../conversation/split-words.ts';
import { Icon, IconButton } from '../../parts/icon.tsx';
import { isComposing } from '../../parts/is-composing.ts';
import { moveFocus } from '../../parts/move-focus.ts';
import { SearchField } from '../../parts/search-field.tsx';
import { Segments } from '../../parts/segments.tsx';
import { useModalDialog } from '../../parts/use-modal-dialog.ts';
import { type Deployment, deploymentOwners } from '../../service/deployments.ts';
import { usePage } from '../../shell/page.tsx';
import { formatUsd } from '../../strings/formats.ts';
import { useLanguage, useLocalizedStrings, useStrings } from '../../strings/strings.tsx';
import { readFavorites, readRecent, toggleFavorite } from './favorites.ts';
import './deployment-dialog.css';
import { pickerGerman } from '../../locales/de/chat/picker.ts';
import { type PickerStrings, pickerEnglish } from '../../locales/en/chat/picker.ts';
import { pickerSpanish } from '../../locales/es/chat/picker.ts';
import { pickerFrench } from '../../locales/fr/chat/picker.ts';
import { DeploymentIcon } from './deployment-icon.tsx';

export interface DeploymentChoiceProps {
  readonly title: string;
  readonly selectedId: string | undefined;
  readonly pick: (id: string) => void;
  readonly close: () => void;
}

const kinds = ['all', 'models', 'applications', 'files', 'tools'] as const;
type Kind = (typeof kinds)[number];

/** Maximum number of deployments for which the dialog omits the filters and the recent deployments. */
const maxInShortList = 8;

/** Chooses among all deployments of the user. */
export function DeploymentChoice({ title, selectedId, pick, close }: DeploymentChoiceProps) {
  const strings = useStrings();
  const pickerStrings = usePickerStrings();
  const { deployments } = usePage();
  const { dialog, closeDialog } = useModalDialog(close);
  const [query, setQuery] = useState('');
  const [kind, setKind] = useState<Kind>('all');
  const [favorites, setFavorites] = useState(readFavorites);
  const headingId = useId();
  const kindNames: Readonly<Record<Kind, string>> = {
    all: pickerStrings.kindAll,
    models: pickerStrings.kindModels,
    applications: pickerStrings.kindApplications,
    files: pickerStrings.kindFiles,
    tools: pickerStrings.kindTools,
  };
  const headings = {
    favorites: pickerStrings.favorites,
    recent: pickerStrings.recentlyUsed,
    operator: pickerStrings.ofTheService,
    self: strings.yours,
    other: strings.sharedByOthers,
  };
  const isLong = deployments.length > maxInShortList;
  const sections = toSections(
    sortByRank(
      query,
      deployments.filter((item) => matchesQuery(item, query) && matchesKind(item, kind)),
    ),
    { favorites, recent: isLong && query === '' && kind === 'all' ? readRecent() : [] },
  );
  const [first] = sections.flatMap(({ items }) => items);
  const choose = (id: string): void => {
    closeDialog();
    pick(id);
  };
  return (
    <dialog
      {...{ ref: dialog, className: 'picker-dialog', 'aria-labelledby': headingId, closedby: 'any' }}
      onKeyDown={(event) => moveFocus(event, 'input[type="search"], .option, .option-version')}
    >
      <div className="picker-body">
        <h2 id={headingId}>{title}</h2>
        <SearchField
          label={pickerStrings.searchDeployments}
          value={query}
          onChange={setQuery}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || first === undefined || isComposing(event.nativeEvent)) return;
            event.preventDefault();
            choose(first.id);
          }}
        />
        {isLong && (
          <Segments
            name={pickerStrings.deploymentKind}
            value={kind}
            options={kinds.map((item) => [item, kindNames[item]])}
            onSelect={setKind}
          />
        )}
        {first === undefined && <p className="soft">{strings.noDeploymentFound(query)}</p>}
        {sections.map(({ name, items }) => (
          <Section key={name} heading={sections.some((section) => section.name !== 'operator') ? headings[name] : ''}>
            {toFamilies(items, selectedId).map((family) => {
              const [{ id }] = family;
              return (
                <DeploymentOption
                  key={id}
                  {...{ family, pick: choose, isChosen: id === selectedId, isFavorite: favorites.includes(id) }}
                  toggleFavorite={() => setFavorites(toggleFavorite(id))}
                />
              );
            })}
          </Section>
        ))}
      </div>
    </dialog>
  );
}

/** A section without a heading if it is the only one. */
function Section({ heading, children }: { readonly heading: string; readonly children: ReactNode }) {
  const labelId = useId();
  return (
    <section aria-labelledby={heading === '' ? undefined : labelId}>
      {heading !== '' && (
        <h3 id={labelId} className="overline">
          {heading}
        </h3>
      )}
      <ul>{children}</ul>
    </section>
  );
}

/** Lists each deployment once: under favorites, recent ones, or its owner. */
function toSections(matches: readonly Deployment[], first: Readonly<Record<'favorites' | 'recent', readonly string[]>>) {
  const ranked = Map.groupBy(matches, ({ id, owner }) => {
    if (first.favorites.includes(id)) return 'favorites' as const;
    return first.recent.includes(id) ? ('recent' as const) : owner;
  });
  const recent = ranked.get('recent')?.toSorted((left, right) => first.recent.indexOf(left.id) - first.recent.indexOf(right.id));
  if (recent !== undefined) ranked.set('recent', recent);
  return (['favorites', 'recent', ...deploymentOwners] as const).flatMap((name) => {
    const items = ranked.get(name);
    return items === undefined ? [] : [{ name, items }];
  });
}

/** Sorts names that equal the query first, then names that start with it. */
function sortByRank(query: string, matches: readonly Deployment[]): readonly Deployment[] {
  const normalizedQuery = query.trim().toLowerCase();
  if (normalizedQuery === '') return matches;
  const getRank = ({ name }: Deployment): number => {
    const normalizedName = name.toLowerCase();
    return normalizedName === normalizedQuery ? 0 : normalizedName.startsWith(normalizedQuery) ? 1 : 2;
  };
  return matches.toSorted((left, right) => getRank(left) - getRank(right));
}

function matchesKind({ isApplication, attachmentTypes = [], hasTools }: Deployment, kind: Kind): boolean {
  const isMatch: Readonly<Record<Kind, boolean>> = {
    all: true,
    models: !isApplication,
    applications: isApplication,
    files: attachmentTypes.length > 0,
    tools: hasTools,
  };
  return isMatch[kind];
}

function matchesQuery({ id, name, version = '', description }: Deployment, query: string): boolean {
  return includesAll(`${id} ${name} ${version} ${description}`.toLowerCase(), splitWords(query));
}

interface DeploymentOptionProps {
  /** The offered deployment, followed by its other versions. */
  readonly family: readonly [Deployment, ...Deployment[]];
  readonly isChosen: boolean;
  readonly isFavorite: boolean;
  readonly pick: (id: string) => void;
  readonly toggleFavorite: () => void;
}

/** An option with name, description, price, context window, and favorite button. */
function DeploymentOption({ family, isChosen, isFavorite, pick, toggleFavorite: toggle }: DeploymentOptionProps) {
  const { strings, locale } = useLanguage();
  const [deployment] = family;
  const pickerStrings = usePickerStrings();
  const { id, name, version, description, isApplication, requiresConsent, pricing, contextTokens, owner } = deployment;
  const formatPrice = (usdPerToken: number): string => formatUsd(usdPerToken * 1e6, locale);
  const facts = [
    pricing !== undefined &&
      pricing.prompt + pricing.completion > 0 &&
      pickerStrings.pricePerMillion(formatPrice(pricing.prompt), formatPrice(pricing.completion)),
    contextTokens !== undefined && pickerStrings.readsTokens(contextTokens.toLocaleString(locale)),
  ].filter((fact) => fact !== false);
  const starName = isFavorite ? pickerStrings.removeFavorite(name) : pickerStrings.addFavorite(name);
  return (
    <li className="option-row">
      <button type="button" className="option" aria-current={isChosen || undefined} onClick={() => pick(id)}>
        <DeploymentIcon deployment={deployment} />
        <span className="option-text">
          <span className="option-name">
            {name}
            {version !== undefined && <span className="soft">{version}</span>}
            {isApplication && <span className="tag">{strings.application}</span>}
            {requiresConsent && (
              <span className="tag warm">
                <Icon name="shield" />
                {pickerStrings.needsConsent}
              </span>
            )}
          </span>
          {description !== '' && <span className="soft small">{description}</span>}
          {facts.length > 0 && <span className="soft small">{facts.join(' · ')}</span>}
          {owner === 'other' && <span className="soft small">{strings.sharedByOther(deployment.ownerName)}</span>}
        </span>
      </button>
      <IconButton icon="star" className="star" label={starName} data-favorite={isFavorite || undefined} onClick={toggle} />
      {family.length > 1 && <Versions {...{ family, pick }} />}
    </li>
  );
}

/** All versions of a deployment. */
function Versions({ family, pick }: Pick<DeploymentOptionProps, 'family' | 'pick'>) {
  const pickerStrings = usePickerStrings();
  const [selected] = family;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be announced as part of a form
    <div className="option-versions small" role="group" aria-label={pickerStrings.versions(selected.name)}>
      {sortVersions(family).map(({ id, version }) => (
        <button
          key={id}
          {...{ type: 'button', className: 'option-version', onClick: () => pick(id) }}
          aria-current={id === selected.id || undefined}
        >
          {version}
        </button>
      ))}
    </div>
  );
}

/**
 * * Groups deployments with the same name and with versions into families (docs/wire.md, Listings). A family takes the position
 * of its first member. It starts with the selected version, or with the latest one if none is selected. Deployments that other
 * users shared never join the family of another owner.
 */
export function toFamilies(
  deployments: readonly Deployment[],
  selectedId: string | undefined,
): readonly (readonly [Deployment, ...Deployment[]])[] {
  const families = Map.groupBy(deployments, ({ id, name, version, owner }) =>
    version === undefined || owner === 'other' ? id : `${owner} ${name}`,
  );
  return [...families.values()].flatMap((family) => {
    const sorted = sortVersions(family);
    const first = sorted.find(({ id }) => id === selectedId) ?? sorted[0];
    return first === undefined ? [] : [[first, ...sorted.filter((item) => item !== first)] as const];
  });
}

/** Sorts the versions of a family, the latest first. */
function sortVersions(family: readonly Deployment[]): readonly Deployment[] {
  return family.toSorted((left, right) => (right.version ?? '').localeCompare(left.version ?? '', undefined, { numeric: true }));
}

/** Texts of the deployment dialog, in a separate chunk that only the dialog loads. */
function usePickerStrings(): PickerStrings {
  return useLocalizedStrings({ en: pickerEnglish, de: pickerGerman, fr: pickerFrench, es: pickerSpanish });
}
