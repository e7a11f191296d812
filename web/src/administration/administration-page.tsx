import { useCallback } from 'react';
import { Icon } from '../parts/icon.tsx';
import { NamedPage } from '../parts/named-page.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { usePage } from '../shell/page.tsx';
import { formatRoute, type Route } from '../shell/route.ts';
import { AdminError } from './admin-error.tsx';
import { getKindTexts, useAdminStrings } from './admin-strings.ts';
import { AlertsSection } from './alerts-section.tsx';
import { ChangesSection } from './changes-section.tsx';
import { type Kind, readKinds } from './entries.ts';
import { EntryList } from './entry-list.tsx';
import { EntryPage } from './entry-page.tsx';
import { KeysSection } from './keys-section.tsx';
import { LimitsSection } from './limits-section.tsx';
import { SharedSection } from './shared-section.tsx';
import { useEntries } from './use-entries.ts';
import './administration.css';
import '../builder/builder.css';
import '../forms/forms.css';

interface AdministrationPageProps {
  /** Kind or name of the open section. If undefined, the start page is open. */
  readonly section: string | undefined;
  /** ID of the open entry, or '' for a new one. If undefined, the list is open. */
  readonly id: string | undefined;
  readonly openMenu: () => void;
}

/** Configuration at run time, for administrators. Auditors can read it. */
export function AdministrationPage({ section, id, openMenu }: AdministrationPageProps) {
  const strings = useAdminStrings();
  const { service } = usePage();
  const load = useCallback((signal: AbortSignal) => readKinds(service, signal), [service]);
  const { value: kinds, error, isLoading } = useLoaded(load);
  return (
    <NamedPage name={strings.title} openMenu={openMenu}>
      <div className="sheet wide administration" aria-busy={isLoading}>
        <h1>{strings.title}</h1>
        {error?.code === 'route_not_found' ? <p>{strings.unavailable}</p> : <AdminError error={error} />}
        {kinds !== undefined && (
          <>
            <SectionLinks kinds={kinds} section={section} />
            <Section {...{ kinds, section, id }} />
          </>
        )}
      </div>
    </NamedPage>
  );
}

interface SectionProps extends Omit<AdministrationPageProps, 'openMenu'> {
  readonly kinds: readonly Kind[];
}

function Section({ kinds, section, id }: SectionProps) {
  const strings = useAdminStrings();
  if (section === undefined) return <StartSection />;
  if (section === 'changes') return <ChangesSection kinds={kinds} />;
  if (section === 'limits') return <LimitsSection />;
  if (section === 'alerts') return <AlertsSection />;
  if (section === 'shared') return <SharedSection />;
  const kind = kinds.find((candidate) => candidate.kind === section);
  if (kind === undefined) return <p>{strings.unknownSection}</p>;
  if (id !== undefined) return <EntryPage key={`${section} ${id}`} {...{ kind, id }} />;
  return section === 'keys' ? <KeysSection kind={kind} /> : <EntryList key={section} kind={kind} />;
}

/** Kinds without a link. Other actions create their entries. */
const managedKinds: ReadonlySet<string> = new Set(['limit-resets']);

/** Links to the sections: the kinds that the service lists, except `managedKinds`, and the other views. */
function SectionLinks({ kinds, section }: { readonly kinds: readonly Kind[]; readonly section: string | undefined }) {
  const strings = useAdminStrings();
  const toLink = (target: string | undefined): Route => ({
    at: 'administration',
    ...(target !== undefined && { section: target }),
  });
  const kindLinks = kinds
    .filter(({ kind }) => !managedKinds.has(kind))
    .map(({ kind }) => [toLink(kind), getKindTexts(strings, kind).title, kind] as const);
  const links: readonly (readonly [Route, string, string | undefined])[] = [
    [toLink(undefined), strings.start, undefined],
    ...kindLinks,
    [toLink('limits'), strings.limits, 'limits'],
    [toLink('alerts'), strings.alerts, 'alerts'],
    [toLink('shared'), strings.sharedApplications, 'shared'],
    [toLink('changes'), strings.changes, 'changes'],
    [{ at: 'usage', scope: 'all' }, strings.spending, 'usage'],
  ];
  return (
    <nav className="section-links" aria-label={strings.sections}>
      {links.map(([route, name, target]) => (
        <a key={name} className="quiet-link" href={formatRoute(route)} aria-current={target === section ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}

/** The first steps on an empty service, and their progress. */
function StartSection() {
  const strings = useAdminStrings();
  const models = useEntries('models');
  const keys = useEntries('keys');
  const roles = useEntries('roles');
  const isLoading = [models, keys, roles].some(({ entries }) => entries === undefined);
  const [modelCount, keyCount, roleCount] = [models, keys, roles].map(({ entries }) => entries?.length ?? 0);
  const steps = [
    { section: 'models', text: strings.firstModel, hint: strings.firstModelHint, count: modelCount },
    // The key of the administrator does not count.
    { section: 'keys', text: strings.firstKey, hint: strings.firstKeyHint, count: Math.max(0, (keyCount ?? 0) - 1) },
    { section: 'limits', text: strings.firstLimits, hint: strings.firstLimitsHint, count: roleCount },
  ];
  const isNew = !isLoading && (modelCount === 0 || (keyCount ?? 0) < 2);
  return (
    <section className="sheet-section" aria-label={strings.start} aria-busy={isLoading}>
      <h2>{isNew ? strings.welcome : strings.start}</h2>
      <p className="soft">{strings.startIntro}</p>
      <AdminError error={models.error ?? keys.error ?? roles.error} />
      {!isLoading && (
        <ol className="start-steps">
          {steps.map(({ section, text, hint, count = 0 }) => (
            <li key={section}>
              <Icon name={count > 0 ? 'check' : 'right'} />
              <div>
                <a
                  href={formatRoute({
                    ...{ at: 'administration', section },
                    ...(count === 0 && section !== 'limits' && { id: '' }),
                  })}
                >
                  {text}
                </a>
                <p className="soft small">{count > 0 ? strings.done(count) : hint}</p>
              </div>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
