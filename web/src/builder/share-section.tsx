import { useEffect } from 'react';
import type { JsonObject } from '#base/json/json.ts';
import { toHash } from '../page/place.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import type { OwnApplication } from './applications.ts';
import { valueAt } from './draft.ts';
import type { BuilderForm } from './editors/form.ts';
import { ListEditor } from './editors/list-editor.tsx';
import { ResultTag } from './evaluation/evaluation-list.tsx';
import { type Evaluating, lastOf } from './evaluation/use-evaluations.ts';
import { useBuilderWords } from './words/builder-words.ts';

const roles = { type: 'array', items: { type: 'string' } };

interface ShareSectionProps {
  readonly entry: JsonObject;
  readonly form: BuilderForm;
  readonly stored: OwnApplication | undefined;
  readonly evaluating: Evaluating;
}

/** Who may use an application besides its maker, and the link for them. */
export function ShareSection({ entry, form, stored, evaluating }: ShareSectionProps) {
  const words = useBuilderWords();
  const id = stored?.id;
  const link = id === undefined ? '' : new URL(toHash({ at: 'new', deployment: id }), document.baseURI).href;
  return (
    <section className="builder-section" aria-label={words.sharing}>
      <h2>{words.sharing}</h2>
      <ListEditor
        {...{ form, schema: roles, item: roles.items, isRequired: false }}
        label={words.role}
        hint={words.sharingHint}
        path={['userRoles']}
        value={valueAt(entry, ['userRoles'])}
      />
      {stored !== undefined && addsRoles(entry, stored.entry) && <EvaluationOffer evaluating={evaluating} />}
      {link !== '' && (
        <p className="builder-link">
          <span className="soft small">{words.shareLink}</span>
          <code>{link}</code>
          <CopyButton text={() => link} label={words.shareLink} />
        </p>
      )}
    </section>
  );
}

/** Whether somebody may use it, once it is saved, who may not yet. */
function addsRoles({ userRoles: next }: JsonObject, { userRoles: now }: JsonObject): boolean {
  const before: readonly unknown[] = Array.isArray(now) ? now : [];
  return Array.isArray(next) && next.some((role) => role !== '' && !before.includes(role));
}

/** Before others use it: what the last evaluation came to, and another one. */
function EvaluationOffer({ evaluating }: Pick<ShareSectionProps, 'evaluating'>) {
  const words = useBuilderWords();
  const { want, setOpen, start, running, cases, version, isLoaded } = evaluating;
  useEffect(want, [want]);
  const last = lastOf(evaluating, version);
  const show = (): void => {
    setOpen(true);
    if (cases.length > 0 && running === undefined) start();
    setTimeout(() => document.querySelector('#evaluation')?.scrollIntoView());
  };
  return (
    <div className="row" role="status">
      <span className="small">{words.evaluateFirst}</span>
      {last !== undefined && <ResultTag evaluation={last} />}
      <button type="button" className="button slim" disabled={!isLoaded} onClick={show}>
        {isLoaded && cases.length === 0 ? words.addCases : words.evaluateNow}
      </button>
    </div>
  );
}
