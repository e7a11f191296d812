import type { ReactNode } from 'react';
import { flushSync } from 'react-dom';
import type { JsonObject } from '#base/json/json.ts';
import { Icon } from '../../parts/icon.tsx';
import { itemName } from '../item-name.ts';
import { useBuilderWords } from '../words/builder-words.ts';
import { useSchemaWords } from '../words/schema-words.ts';
import { type EditorProps, elementId } from './form.ts';
import { FaultAt, FieldGroup } from './frame.tsx';
import { OperationLine, toOperation } from './operation-line.tsx';
import { Properties } from './properties.tsx';
import { RemoveButton } from './remove-button.tsx';
import { firstOf, toShape } from './shape.ts';
import { useItemKeys } from './use-item-keys.ts';

interface ListEditorProps extends EditorProps {
  readonly item: JsonObject;
  /** What one begins with that is added; absent: its first form, empty. */
  readonly start?: unknown;
  /** Another way to add, which stands above the plain one. */
  readonly otherWay?: ReactNode;
}

/** A list: texts in lines, objects in cards that fold; operations of a web API are many, and folded to begin with. */
export function ListEditor({ item, value, path, form, isRequired, label, hint, isLabelHeard, start, otherWay }: ListEditorProps) {
  const words = useBuilderWords();
  const addWords: Readonly<Record<string, string>> = words.addItem;
  const setting = String(path.at(-1));
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const { keys, forget } = useItemKeys(items.length);
  const id = elementId(form, path);
  const isOfTexts = toShape(item).kind === 'text';
  const add = (): void => {
    // Drawn at once, so that whoever types on already types into it.
    flushSync(() => form.change([...path, items.length], start ?? firstOf(item)));
    focusLast(id);
  };
  const remove = (index: number): void => {
    const rest = items.filter((_, at) => at !== index);
    forget(index);
    form.change(path, rest.length === 0 && !isRequired ? undefined : rest);
    document.getElementById(`${id}-add`)?.focus();
  };
  return (
    <FieldGroup {...{ form, path, label, hint, isLabelHeard, className: 'builder-list' }}>
      {items.length > 0 && (
        <ul>
          {items.map((each, index) => (
            <li key={keys[index] ?? index} className={isOfTexts ? 'builder-line' : 'builder-card'}>
              <Item {...{ item, value: each, path: [...path, index], form, label, remove: () => remove(index) }} />
            </li>
          ))}
        </ul>
      )}
      {otherWay}
      <button type="button" className="button" id={`${id}-add`} onClick={add}>
        <Icon name="plus" />
        {Object.hasOwn(addWords, setting) ? addWords[setting] : words.addTo(label)}
      </button>
    </FieldGroup>
  );
}

interface ItemProps extends Pick<EditorProps, 'value' | 'path' | 'form' | 'label'> {
  readonly item: JsonObject;
  readonly remove: () => void;
}

function Item({ item, value, path, form, label, remove }: ItemProps) {
  const words = useBuilderWords();
  const say = useSchemaWords();
  const shape = toShape(item);
  const name = itemName(value) || words.itemOf(label, Number(path.at(-1)) + 1);
  const operation = toOperation(value);
  const removeButton = <RemoveButton {...{ name, remove }} />;
  if (shape.kind === 'text') {
    return (
      <>
        <form.Value
          {...{ schema: item, value, path, form, hint: '' }}
          isRequired
          isLabelHeard
          label={words.itemOf(label, Number(path.at(-1)) + 1)}
        />
        {removeButton}
      </>
    );
  }
  return (
    <>
      <details open={operation === undefined}>
        <summary>
          <Icon name="right" />
          {operation === undefined ? (
            <span className="builder-card-name">{name}</span>
          ) : (
            <OperationLine operation={operation} instead={name} />
          )}
        </summary>
        <div className="builder-card-body" id={elementId(form, path)}>
          <FaultAt {...{ form, path }} />
          {shape.kind === 'group' ? (
            <Properties {...{ value, path, form }} properties={shape.properties} />
          ) : (
            <form.Value
              {...{ schema: item, value, path, form }}
              isRequired
              label={words.form}
              hint={say(String(item.description ?? ''))}
            />
          )}
        </div>
      </details>
      {removeButton}
    </>
  );
}

function focusLast(listId: string): void {
  const last = document.getElementById(listId)?.querySelector(':scope > ul > li:last-child');
  const folded = last?.querySelector<HTMLDetailsElement>(':scope > details');
  if (folded != null) folded.open = true;
  const field = last?.querySelector<HTMLElement>('input, textarea, select');
  field?.focus();
  if (field instanceof HTMLInputElement) field.select();
}
