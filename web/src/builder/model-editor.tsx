import { usePage } from '../page/page.tsx';
import { useBuilderWords } from './builder-words.ts';
import type { EditorProps } from './form.ts';
import { FieldFrame } from './frame.tsx';

/** The choice of whom the application asks, out of what is open to its maker. */
export function ModelEditor({ value, path, form, label, hint, isRequired }: EditorProps) {
  const words = useBuilderWords();
  const { deployments } = usePage();
  const chosen = typeof value === 'string' ? value : '';
  const groups = [
    { name: words.models, items: deployments.filter(({ isApplication }) => !isApplication) },
    { name: words.applications, items: deployments.filter(({ isApplication }) => isApplication) },
  ];
  return (
    <FieldFrame {...{ form, path, label, hint, isRequired }}>
      {(control) => (
        <select {...control} value={chosen} onChange={({ target }) => form.change(path, target.value)}>
          {chosen === '' && <option value="">{words.notSet}</option>}
          {chosen !== '' && deployments.every(({ id }) => id !== chosen) && (
            <option value={chosen}>{words.notOffered(chosen)}</option>
          )}
          {groups.map(
            ({ name, items }) =>
              items.length > 0 && (
                <optgroup key={name} label={name}>
                  {items.map((each) => (
                    <option key={each.id} value={each.id}>
                      {each.name}
                    </option>
                  ))}
                </optgroup>
              ),
          )}
        </select>
      )}
    </FieldFrame>
  );
}
