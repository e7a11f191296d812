import { useEffect, useId, useMemo, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { toHash } from '../page/place.ts';
import { Icon } from '../parts/icon.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { useWords } from '../words/words.tsx';
import { AppForm } from './app-form.tsx';
import { isQuickApp, nameOf } from './applications.ts';
import type { Beginning } from './beginning.ts';
import { useBuilderWords } from './builder-words.ts';
import { type BuilderForm, goToField } from './form.ts';
import { RawEditor } from './raw-editor.tsx';
import { Refusal } from './refusal.tsx';
import { type AppDraft, useAppDraft } from './use-app-draft.ts';
import { useLeaveGuard, useSaveKey } from './use-leave-guard.ts';
import { useSchema } from './use-schema.ts';
import { ValueEditor } from './value-editor.tsx';

interface AppEditorProps {
  /** '' for one that is yet to be saved. */
  readonly id: string;
  readonly beginning: Beginning | undefined;
  readonly openMenu: () => void;
  readonly noteMade: (id: string) => void;
}

type View = 'form' | 'json';

/** One application: its form, or the whole of it as JSON, and the ways to save and to try it. */
export function AppEditor({ id, beginning, openMenu, noteMade }: AppEditorProps) {
  const words = useWords();
  const builderWords = useBuilderWords();
  const { go, announce } = usePage();
  const draft = useAppDraft(id, beginning);
  const { entry, stored, isDirty, faults, change } = draft;
  const schema = useSchema();
  const [view, setView] = useState<View>('form');
  const [isBroken, setIsBroken] = useState(false);
  const formId = useId();
  const form = useMemo<BuilderForm>(() => ({ id: formId, faults, change, Value: ValueEditor }), [formId, faults, change]);
  const isPlain = entry !== undefined && !isQuickApp(entry);
  const shownView: View = isPlain ? 'json' : view;

  const save = async (over?: 'over'): Promise<string | undefined> => {
    if (isBroken) return undefined;
    const saved = await draft.save(over);
    if (saved === undefined) return undefined;
    announce(builderWords.saved);
    if (id === '') noteMade(saved.id);
    return saved.id;
  };
  const tryIt = async (): Promise<void> => {
    const saved = isDirty ? await save() : stored?.id;
    if (saved !== undefined) go({ at: 'new', deployment: saved });
  };
  useSaveKey(() => void save());
  useLeaveGuard(draft.isTouched && !draft.isSaving, builderWords.leaveQuestion);
  useEffect(() => {
    const [first] = faults.keys();
    if (first !== undefined) goToField(formId, first);
  }, [faults, formId]);

  const written = typeof entry?.displayName === 'string' ? entry.displayName : '';
  const title = written || (stored === undefined ? builderWords.newTitle : nameOf(stored));
  useEffect(() => {
    document.title = `${title} · ${words.product}`;
  }, [title, words]);

  const isLoading =
    (entry === undefined && draft.fault === undefined) || (schema.value === undefined && schema.fault === undefined);
  return (
    <main className="content">
      <PageHeader openMenu={openMenu}>
        <a className="quiet-link builder-back" href={toHash({ at: 'applications' })}>
          <Icon name="left" />
          {builderWords.back}
        </a>
      </PageHeader>
      <div className="sheet builder" aria-busy={isLoading}>
        <div className="builder-title">
          <h1>{title}</h1>
          {entry !== undefined && !isPlain && <ViewChoice view={view} choose={(next) => !isBroken && setView(next)} />}
        </div>
        {beginning !== undefined && beginning.note !== '' && stored === undefined && <p className="banner">{beginning.note}</p>}
        {isPlain && <p className="soft">{builderWords.rawOnly}</p>}
        <Refusal
          fault={draft.fault ?? schema.fault}
          {...{ faults, isLoaded: entry !== undefined }}
          goTo={(field) => {
            setView('form');
            setTimeout(() => goToField(formId, field));
          }}
          load={() => void draft.load()}
          saveOver={() => void save('over')}
        />
        {entry !== undefined && shownView === 'json' && (
          <RawEditor entry={entry} change={draft.replace} noteBroken={setIsBroken} />
        )}
        {entry !== undefined && shownView === 'form' && schema.value !== undefined && (
          <AppForm {...{ entry, form, schema: schema.value, id: stored?.id }} />
        )}
      </div>
      {entry !== undefined && <SaveBar {...{ draft, isBroken }} save={() => void save()} tryIt={() => void tryIt()} />}
    </main>
  );
}

function ViewChoice({ view, choose }: { readonly view: View; readonly choose: (view: View) => void }) {
  const builderWords = useBuilderWords();
  const names: Record<View, string> = { form: builderWords.asForm, json: builderWords.asJson };
  return (
    <fieldset className="choice">
      <legend className="heard-only">{builderWords.view}</legend>
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

interface SaveBarProps {
  readonly draft: AppDraft;
  readonly isBroken: boolean;
  readonly save: () => void;
  readonly tryIt: () => void;
}

function SaveBar({ draft: { isDirty, isSaving }, isBroken, save, tryIt }: SaveBarProps) {
  const builderWords = useBuilderWords();
  return (
    <div className="builder-bar">
      <span className="soft small">{isDirty ? builderWords.unsaved : builderWords.allSaved}</span>
      <button type="button" className="button" disabled={isSaving || isBroken} onClick={tryIt}>
        {builderWords.tryIt}
      </button>
      <button type="button" className="button primary" disabled={isSaving || isBroken || !isDirty} onClick={save}>
        {isSaving ? builderWords.saving : builderWords.save}
      </button>
    </div>
  );
}
