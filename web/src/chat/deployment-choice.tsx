import { type ReactNode, useId, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { isComposing } from '../parts/is-composing.ts';
import { moveFocus } from '../parts/move-focus.ts';
import { Segments } from '../parts/segments.tsx';
import { useShownDialog } from '../parts/use-shown-dialog.ts';
import { type Deployment, makers } from '../service/deployments.ts';
import { useWords } from '../words/words.tsx';
import { DeploymentOption } from './deployment-option.tsx';
import { readFavourites, readRecent, toggleFavourite } from './favourites.ts';
import { usePickerWords } from './picker-words.ts';
import { toFamilies } from './version-families.ts';
import './deployment-dialog.css';

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
