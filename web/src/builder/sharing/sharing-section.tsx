import { useCallback, useEffect, useId, useState } from 'react';
import { defaultRole } from '#contract/roles.ts';
import type { BuilderStrings } from '../../locales/en/builder.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorMessage } from '../../parts/error-message.tsx';
import { Icon, TextButton } from '../../parts/icon.tsx';
import { useAction, useLoaded } from '../../parts/use-loaded.ts';
import { useModalDialog } from '../../parts/use-modal-dialog.ts';
import { toDisplayName } from '../../share/chat-shares.ts';
import { getKeyTeam, usePage } from '../../shell/page.tsx';
import { formatRoute } from '../../shell/route.ts';
import { useStrings } from '../../strings/strings.tsx';
import {
  findPeople,
  getName,
  isShared,
  type Matches,
  type NamedAccess,
  type OwnApplication,
  type Person,
  readAccess,
  writeAccess,
} from '../applications.ts';
import { useBuilderStrings } from '../builder-strings.ts';
import { ResultTag } from '../evaluation/evaluation-list.tsx';
import { type EvaluationState, findLastEvaluation } from '../evaluation/use-evaluations.ts';
import type { AppDraft } from '../use-app-draft.ts';
import '../../parts/question-dialog.css';
import './sharing.css';

interface AccessDialogProps {
  readonly id: string;
  readonly name: string;
  /** Called after each change, with the ETag before it. */
  readonly onChange: (access: NamedAccess, etagBefore: string) => void;
  readonly close: () => void;
}

/** A user or a role that can have access. */
interface Grantee extends Person {
  readonly isRole: boolean;
}

/** Dialog that finds users and roles, and grants or removes their access. Each change is saved immediately. */
export function AccessDialog({ id, name, onChange, close }: AccessDialogProps) {
  const strings = useBuilderStrings();
  const { close: closeLabel } = useStrings();
  const { service, announce } = usePage();
  const { dialog, closeDialog } = useModalDialog(close);
  const titleId = useId();
  const load = useCallback((signal: AbortSignal) => readAccess(service, id, signal), [service, id]);
  const { value: loadedAccess, error: loadError, reload } = useLoaded(load);
  const [changedAccess, setChangedAccess] = useState<NamedAccess>();
  const access = changedAccess ?? loadedAccess;
  const { error, isRunning, run } = useAction();
  const change = (grantee: Grantee, isGranted: boolean): void => {
    if (isRunning) return;
    void run(async () => {
      // Reads the access again to keep concurrent changes from other devices.
      const before = await readAccess(service, id);
      const remaining = {
        roles: before.roles.filter((role) => !grantee.isRole || role !== grantee.id),
        users: before.people.map((person) => person.id).filter((user) => grantee.isRole || user !== grantee.id),
      };
      const key = grantee.isRole ? 'roles' : 'users';
      const next = isGranted ? { ...remaining, [key]: [...remaining[key], grantee.id] } : remaining;
      const after = await writeAccess(service, id, { ...next, etag: before.etag });
      setChangedAccess(after);
      onChange(after, before.etag);
      announce(isGranted ? strings.accessGiven(grantee.name) : strings.accessRemoved(grantee.name));
    });
  };
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog access-dialog', 'aria-labelledby': titleId, closedby: 'any' }}>
      <h2 id={titleId}>{strings.shareNamed(name)}</h2>
      <p className="soft small">{strings.shareIntro}</p>
      <p className="soft small">{strings.shareChanges}</p>
      <ErrorMessage error={error} />
      <ErrorMessage error={loadError} retry={reload} />
      {access !== undefined && (
        <>
          <Search access={access} add={(grantee) => change(grantee, true)} />
          <Grantees access={access} remove={(grantee) => change(grantee, false)} />
        </>
      )}
      <div className="row end">
        <TextButton onClick={closeDialog}>{closeLabel}</TextButton>
      </div>
    </dialog>
  );
}

function toGrantees({ people, roles }: Matches, strings: BuilderStrings): readonly Grantee[] {
  const { everyoneStandard, standardRoleHint, keyName, keyHint, role: roleHint } = strings;
  return [
    ...people.map((person) => ({
      ...person,
      ...(getKeyTeam(person.id) !== undefined && { name: keyName(toDisplayName(person.name)), detail: keyHint }),
      isRole: false,
    })),
    ...roles.map((role) => ({
      ...(role === defaultRole ? { name: everyoneStandard, detail: standardRoleHint } : { name: role, detail: roleHint }),
      ...{ id: role, isRole: true },
    })),
  ];
}

const searchDelayMs = 250;
/** Minimum length of a search text for the message that there are no matches. */
const minSearchChars = 3;

/** The search field and the users and roles that it finds. They keep their positions when they get access. */
function Search({ access, add }: { readonly access: NamedAccess; readonly add: (grantee: Grantee) => void }) {
  const strings = useBuilderStrings();
  const { service } = usePage();
  const [text, setText] = useState('');
  const fieldId = useId();
  const query = text.trim();
  const load = useCallback(
    async (signal: AbortSignal) => {
      await new Promise((resolve) => setTimeout(resolve, query === '' ? 0 : searchDelayMs));
      signal.throwIfAborted();
      return { text: query, matches: await findPeople(service, query, signal) };
    },
    [service, query],
  );
  const { value: found, error, reload } = useLoaded(load);
  const hasAccess = ({ id, isRole }: Grantee): boolean =>
    isRole ? access.roles.includes(id) : access.people.some((person) => person.id === id);
  const matches = found === undefined ? [] : toGrantees(found.matches, strings);
  const isEmpty = found?.text === query && query.length >= minSearchChars && matches.length === 0;
  return (
    <div className="access-search">
      <label htmlFor={fieldId}>{strings.personOrRole}</label>
      <input
        {...{ id: fieldId, type: 'search', value: text, autoComplete: 'off', 'aria-describedby': `${fieldId}-hint` }}
        onChange={({ target }) => setText(target.value)}
      />
      <p className="soft small" id={`${fieldId}-hint`}>
        {strings.personOrRoleHint}
      </p>
      <ErrorMessage error={error} retry={reload} />
      <p className="small" role="status">
        {isEmpty && strings.noMatches(query)}
      </p>
      {matches.length > 0 && (
        <ul className="access-list" aria-label={found?.text === '' ? strings.yourRoles : strings.matchesFound}>
          {matches.map((grantee) => (
            <li key={`${grantee.isRole} ${grantee.id}`}>
              <GranteeName grantee={grantee} />
              <button
                {...{ type: 'button', className: 'button slim', disabled: hasAccess(grantee), onClick: () => add(grantee) }}
                aria-label={hasAccess(grantee) ? strings.accessGiven(grantee.name) : strings.giveAccessTo(grantee.name)}
              >
                <Icon name={hasAccess(grantee) ? 'check' : 'plus'} />
                {hasAccess(grantee) ? strings.alreadyShared : strings.giveAccess}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function GranteeName({ grantee: { name, detail } }: { readonly grantee: Grantee }) {
  return (
    <span className="access-name">
      <span>{name}</span>
      <span className="soft small">{detail}</span>
    </span>
  );
}

/** The owner, and the users and roles with access. */
function Grantees({ access, remove }: { readonly access: NamedAccess; readonly remove: (grantee: Grantee) => void }) {
  const strings = useBuilderStrings();
  const headingId = useId();
  const grantees = toGrantees(access, strings);
  return (
    <section aria-labelledby={headingId}>
      <h3 id={headingId}>{strings.hasAccess}</h3>
      <ul className="access-list">
        <li>
          <span className="access-name">
            <span>{strings.you}</span>
            <span className="soft small">{strings.owner}</span>
          </span>
        </li>
        {grantees.map((grantee) => (
          <li key={`${grantee.isRole} ${grantee.id}`}>
            <GranteeName grantee={grantee} />
            <button
              {...{ type: 'button', className: 'button slim', 'aria-label': strings.removeAccessFor(grantee.name) }}
              onClick={() => remove(grantee)}
            >
              {strings.removeAccess}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

export interface SharingSectionProps {
  /** Undefined until the application is saved. */
  readonly stored: OwnApplication | undefined;
  readonly evaluationState: EvaluationState;
  readonly applyAccess: AppDraft['applyAccess'];
}

/** Summary of the access to an application, the dialog that changes it, and the link for its users. */
export function SharingSection({ stored, evaluationState, applyAccess }: SharingSectionProps) {
  const strings = useBuilderStrings();
  const [isOpen, setIsOpen] = useState(false);
  const link = stored && new URL(formatRoute({ at: 'new', deployment: stored.id }), document.baseURI).href;
  return (
    <section className="builder-section" aria-label={strings.sharing}>
      <h2>{strings.sharing}</h2>
      <p className="soft">{stored === undefined ? strings.saveToShare : toSummary(stored, strings)}</p>
      {stored !== undefined && (
        <div className="row">
          <button type="button" className="button" onClick={() => setIsOpen(true)}>
            <Icon name="share" />
            {strings.share}
          </button>
        </div>
      )}
      {stored !== undefined && !isShared(stored) && <EvaluationOffer evaluationState={evaluationState} />}
      {link !== undefined && (
        <p className="builder-link">
          <span className="soft small">{strings.shareLink}</span>
          <code>{link}</code>
          <CopyButton text={() => link} label={strings.shareLink} />
        </p>
      )}
      {isOpen && stored !== undefined && (
        <AccessDialog id={stored.id} name={getName(stored)} onChange={applyAccess} close={() => setIsOpen(false)} />
      )}
    </section>
  );
}

function toSummary(stored: OwnApplication, strings: BuilderStrings): string {
  const { roles, users } = stored.access;
  const teams = users.filter((user) => getKeyTeam(user) !== undefined).length;
  const roleNames = roles.map((role) => (role === defaultRole ? strings.standardRole : role)).join(', ');
  return isShared(stored) ? strings.sharedWith(users.length - teams, teams, roleNames) : strings.onlyYou;
}

/** Before the application is shared, shows the last evaluation result and offers an evaluation. */
function EvaluationOffer({ evaluationState }: Pick<SharingSectionProps, 'evaluationState'>) {
  const strings = useBuilderStrings();
  const { requestLoad, setOpen, start, running, cases, version, isLoaded } = evaluationState;
  useEffect(requestLoad, [requestLoad]);
  const lastEvaluation = findLastEvaluation(evaluationState, version);
  const openEvaluation = (): void => {
    setOpen(true);
    if (cases.length > 0 && running === undefined) start();
    setTimeout(() => {
      const heading = document.querySelector<HTMLElement>('#evaluation summary');
      heading?.scrollIntoView();
      heading?.focus();
    });
  };
  return (
    <div className="row" role="status">
      <span className="small">{strings.evaluateFirst}</span>
      {lastEvaluation !== undefined && <ResultTag evaluation={lastEvaluation} />}
      <button type="button" className="button slim" disabled={!isLoaded} onClick={openEvaluation}>
        {isLoaded && cases.length === 0 ? strings.addCases : strings.evaluateNow}
      </button>
    </div>
  );
}
