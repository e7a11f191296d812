import type { ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { type JsonObject, toText } from '#base/json/json.ts';
import { Icon } from '../../parts/icon.tsx';
import { useBuilderStrings, useSchemaTranslation } from '../builder-strings.ts';
import { getItemName } from '../entry-parts.ts';
import { type EditorProps, toElementId } from './form.ts';
import { FieldError, FieldGroup } from './frame.tsx';
import { RemoveButton, useItemKeys } from './list-items.tsx';
import { OperationLine, toOperation } from './operation-line.tsx';
import { Properties } from './properties.tsx';
import { formKeywords, getInitialItem, toShape } from './shape.ts';

interface ListEditorProps extends EditorProps {
  readonly item: JsonObject;
  /** Initial value of a new item. Defaults to a value from the schema of the item. */
  readonly initialValue?: unknown;
  /** Another control to add items, above the default one. */
  readonly alternative?: ReactNode;
}

/**
 * Edits a list. Texts are lines, and objects are collapsible cards. Operations of a web API start collapsed, because there can be
 * many.
 */
export function ListEditor({
  item,
  schema,
  value,
  path,
  form,
  isRequired,
  label,
  hint,
  isLabelHidden,
  initialValue,
  alternative,
}: ListEditorProps) {
  const strings = useBuilderStrings();
  const addLabels: Readonly<Record<string, string>> = strings.addItem;
  const setting = String(path.at(-1));
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const { keys, removeKey } = useItemKeys(items.length);
  const id = toElementId(form, path);
  const isTextList = toShape(item).kind === 'text';
  const add = (): void => {
    // Rendered synchronously, so that continued typing goes into the new item.
    flushSync(() => form.change([...path, items.length], initialValue ?? getInitialItem(item)));
    focusLast(id);
  };
  const remove = (index: number): void => {
    const remainingItems = items.filter((_, at) => at !== index);
    removeKey(index);
    form.change(path, remainingItems.length === 0 && !isRequired ? undefined : remainingItems);
    document.getElementById(`${id}-add`)?.focus();
  };
  return (
    <FieldGroup {...{ form, path, label, hint, isLabelHidden, className: 'builder-list' }}>
      {items.length > 0 && (
        <ul>
          {items.map((itemValue, index) => (
            <li key={keys[index] ?? index} className={isTextList ? 'builder-line' : 'builder-card'}>
              <Item {...{ item, value: itemValue, path: [...path, index], form, label, remove: () => remove(index) }} />
            </li>
          ))}
        </ul>
      )}
      {alternative}
      <button type="button" className="button" id={`${id}-add`} onClick={add}>
        <Icon name="plus" />
        {String(schema[formKeywords.addLabel] ?? (Object.hasOwn(addLabels, setting) ? addLabels[setting] : strings.addTo(label)))}
      </button>
    </FieldGroup>
  );
}

interface ItemProps extends Pick<EditorProps, 'value' | 'path' | 'form' | 'label'> {
  readonly item: JsonObject;
  readonly remove: () => void;
}

function Item({ item, value, path, form, label, remove }: ItemProps) {
  const strings = useBuilderStrings();
  const translate = useSchemaTranslation();
  const shape = toShape(item);
  const name =
    getItemName(value) || toText(value).trim() || strings.itemLabel(String(item.title ?? label), Number(path.at(-1)) + 1);
  const operation = toOperation(value);
  const removeButton = <RemoveButton {...{ name, remove }} />;
  if (shape.kind === 'text') {
    return (
      <>
        <form.Value
          {...{ schema: item, value, path, form, hint: '' }}
          isRequired
          isLabelHidden
          label={strings.itemLabel(label, Number(path.at(-1)) + 1)}
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
            <OperationLine operation={operation} fallback={name} />
          )}
        </summary>
        <div className="builder-card-body" id={toElementId(form, path)}>
          <FieldError {...{ form, path }} />
          {shape.kind === 'group' ? (
            <Properties {...{ value, path, form }} properties={shape.properties} />
          ) : (
            <form.Value
              {...{ schema: item, value, path, form }}
              isRequired
              label={strings.kind}
              hint={translate(String(item.description ?? ''))}
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
  const details = last?.querySelector<HTMLDetailsElement>(':scope > details');
  if (details != null) details.open = true;
  const field = last?.querySelector<HTMLElement>('input, textarea, select');
  field?.focus();
  if (field instanceof HTMLInputElement) field.select();
}
