import { lazy, Suspense } from 'react';
import { isJsonObject } from '#base/json.ts';
import type { Control } from '#contract/chunk.ts';
import type { Question } from '../conversation/conversation.ts';
import { Guard } from '../parts/guard.tsx';
import { Icon } from '../parts/icon.tsx';
import { useWords } from '../words/words.tsx';
import { toChosenText } from './chosen-text.ts';
import type { Said } from './said.ts';

const SchemaForm = lazy(() => import('../forms/schema-form.tsx').then(({ SchemaForm: form }) => ({ default: form })));

interface ControlListProps {
  readonly controls: readonly Control[];
  /** The question that follows the reply; with a control, it is the one that was chosen. */
  readonly answered: Question | undefined;
  /** Undefined where the controls can no longer be used. */
  readonly say: ((said: Said) => void) | undefined;
}

/** What the reply offers to fill in. Once something followed, it stays to be read, with what was chosen. */
export function ControlList({ controls, answered, say }: ControlListProps) {
  const words = useWords();
  return (
    <section className="controls" aria-label={words.controls}>
      {controls.map((control, at) => (
        <Guard key={control.index ?? at} instead={<p className="note">{String(control.label)}</p>}>
          <ControlView {...{ control, answered, say }} />
        </Guard>
      ))}
    </section>
  );
}

function ControlView({ control, answered, say }: Omit<ControlListProps, 'controls'> & { readonly control: Control }) {
  const { label, schema } = control;
  const chosen = answered?.control?.label === label ? answered.control : undefined;
  const complete = (value?: Record<string, unknown>): void =>
    say?.({ text: '', attachments: [], control: { label, ...(value !== undefined && { value }) } });
  if (chosen !== undefined) {
    return (
      <p className="chosen">
        <Icon name="check" />
        {toChosenText(chosen)}
      </p>
    );
  }
  if (!hasFields(schema)) {
    return (
      <button type="button" className="button" disabled={say === undefined} onClick={() => complete()}>
        {label}
      </button>
    );
  }
  return (
    <fieldset className="control" disabled={say === undefined}>
      <legend>{label}</legend>
      <Suspense fallback={null}>
        <SchemaForm schema={schema} onSubmit={complete} />
      </Suspense>
    </fieldset>
  );
}

function hasFields(schema: unknown): schema is object {
  if (!isJsonObject(schema)) return false;
  const { type, properties } = schema;
  return type !== 'object' || (isJsonObject(properties) && Object.keys(properties).length > 0) || Object.keys(schema).length > 2;
}
