import { Suspense } from 'react';
import { isJsonObject } from '#base/json/json.ts';
import type { Control } from '#contract/chat/chunk.ts';
import type { Question, UserMessage } from '../../conversation/conversation.ts';
import { ChoiceButton } from '../../forms/choice-button.tsx';
import { PlainText } from '../../markdown/long-text.tsx';
import { Guard, lazyView } from '../../parts/lazy-view.tsx';
import { useStrings } from '../../strings/strings.tsx';
import { focusMessage } from '../focus-message.ts';
import './controls.css';
import '../../forms/forms.css';

const SchemaForm = lazyView(() => import('../../forms/schema-form.tsx').then(({ SchemaForm: view }) => view));

interface ControlListProps {
  readonly controls: readonly Control[];
  /** The question after the reply. It contains the selected option if the user used a control. */
  readonly nextQuestion: Question | undefined;
  /** Undefined if the controls can no longer be used. */
  readonly sendMessage: ((message: UserMessage) => void) | undefined;
}

/** Forms of the reply. After the next question, they stay visible with the selected values. */
export function ControlList({ controls, nextQuestion, sendMessage }: ControlListProps) {
  const strings = useStrings();
  return (
    <section className="controls" aria-label={strings.controls}>
      {controls.map((control, index) => (
        <Guard key={control.index ?? index} fallback={<p className="note">{String(control.label)}</p>}>
          <ControlView {...{ control, nextQuestion, sendMessage }} />
        </Guard>
      ))}
    </section>
  );
}

function ControlView({ control, nextQuestion, sendMessage }: Omit<ControlListProps, 'controls'> & { readonly control: Control }) {
  const { label, schema } = control;
  const selected = nextQuestion?.control?.label === label ? nextQuestion.control : undefined;
  const submit = (value?: Record<string, unknown>, filled: readonly string[] = []): void => {
    // A used control is disabled, which would lose the focus.
    focusMessage();
    sendMessage?.({ text: '', attachments: [], control: { label, ...(value !== undefined && { value }) }, filled });
  };
  return (
    <fieldset className={hasFields(schema) ? 'control' : undefined} disabled={sendMessage === undefined}>
      {hasFields(schema) ? (
        <>
          <legend>
            <PlainText text={label} />
          </legend>
          <Suspense fallback={null}>
            <SchemaForm
              schema={schema}
              submittedValue={selected?.value}
              onSubmit={submit}
              key={selected === undefined ? 'open' : 'sent'}
            />
          </Suspense>
        </>
      ) : (
        <ChoiceButton label={label} isSelected={selected !== undefined} select={() => submit()} />
      )}
    </fieldset>
  );
}

function hasFields(schema: unknown): schema is object {
  if (!isJsonObject(schema) || Object.keys(schema).length === 0) return false;
  const { type, properties } = schema;
  return type !== 'object' || (isJsonObject(properties) && Object.keys(properties).length > 0) || Object.keys(schema).length > 2;
}
