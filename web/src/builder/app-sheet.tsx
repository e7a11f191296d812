import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { AppForm } from './app-form.tsx';
import { isQuickApp } from './applications.ts';
import type { Beginning } from './beginning.ts';
import { useBuilderWords } from './builder-words.ts';
import { valueAt } from './draft.ts';
import { EvaluationSection } from './evaluation-section.tsx';
import { type BuilderForm, goToField } from './form.ts';
import { RawEditor } from './raw-editor.tsx';
import { Refusal } from './refusal.tsx';
import type { AppDraft } from './use-app-draft.ts';
import type { Evaluating } from './use-evaluations.ts';
import { useFieldTrail } from './use-field-trail.ts';
import { useSchema } from './use-schema.ts';
import { ValueEditor } from './value-editor.tsx';
import { VersionsSection } from './versions-section.tsx';

interface AppSheetProps {
  readonly draft: AppDraft;
  readonly beginning: Beginning | undefined;
  readonly title: string;
  /** Whether there is JSON that cannot be taken over. */
  readonly isBroken: boolean;
  readonly evaluating: Evaluating;
  readonly noteBroken: (isBroken: boolean) => void;
  readonly saveOver: () => void;
}

type View = 'form' | 'json';

/** The form of an application, or the whole of it as JSON, with what is wrong with it and what it was before. */
export function AppSheet({ draft, beginning, title, isBroken, evaluating, noteBroken, saveOver }: AppSheetProps) {
  const words = useBuilderWords();
  const { entry, stored, faults, change } = draft;
  const schema = useSchema();
  const [view, setView] = useState<View>('form');
  const formId = useId();
  const now = useRef(entry);
  useLayoutEffect(() => {
    now.current = entry;
  }, [entry]);
  const form = useMemo<BuilderForm>(
    () => ({ id: formId, faults, saved: stored, read: (path) => valueAt(now.current, path), change, Value: ValueEditor }),
    [formId, faults, stored, change],
  );
  const isPlain = entry !== undefined && !isQuickApp(entry);
  const shownView: View = isPlain ? 'json' : view;
  useEffect(() => {
    const [first] = faults.keys();
    if (first !== undefined) goToField(formId, first);
  }, [faults, formId]);
  const goTo = (field: string): void => {
    setView('form');
    setTimeout(() => goToField(formId, field));
  };
  const toTrail = useFieldTrail(schema.value, entry);
  const isLoading =
    (entry === undefined && draft.fault === undefined) || (schema.value === undefined && schema.fault === undefined);
  return (
    <div className="sheet builder" aria-busy={isLoading}>
      <div className="builder-title">
        <h1>{title}</h1>
        {entry !== undefined && !isPlain && <ViewChoice view={view} choose={(next) => !isBroken && setView(next)} />}
      </div>
      {beginning !== undefined && beginning.note !== '' && stored === undefined && <p className="banner">{beginning.note}</p>}
      {isPlain && <p className="soft">{words.rawOnly}</p>}
      <Refusal
        fault={draft.fault ?? schema.fault}
        {...{ faults, isLoaded: entry !== undefined, goTo, saveOver }}
        toTrail={shownView === 'form' ? toTrail : undefined}
        load={() => void draft.load()}
      />
      {entry !== undefined && shownView === 'json' && <RawEditor {...{ entry, noteBroken }} change={draft.replace} />}
      {entry !== undefined && shownView === 'form' && schema.value !== undefined && (
        <AppForm {...{ entry, form, schema: schema.value, stored, evaluating }} />
      )}
      {stored !== undefined && <EvaluationSection {...{ stored, evaluating, isDirty: draft.isDirty }} />}
      {stored !== undefined && <VersionsSection {...{ stored, evaluating, take: draft.take }} />}
    </div>
  );
}

function ViewChoice({ view, choose }: { readonly view: View; readonly choose: (view: View) => void }) {
  const words = useBuilderWords();
  const names: Record<View, string> = { form: words.asForm, json: words.asJson };
  return (
    <fieldset className="choice">
      <legend className="heard-only">{words.view}</legend>
      <div className="segments">
        {(['form', 'json'] as const).map((each) => (
          <label key={each}>
            <input type="radio" name="builder-view" checked={view === each} onChange={() => choose(each)} />
            <span>{names[each]}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
