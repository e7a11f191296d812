import { useId, useState } from 'react';
import { isJsonObject } from '#base/json/json.ts';
import { Icon } from '../../parts/icon.tsx';
import { isComposing } from '../../parts/is-composing.ts';
import { SearchField } from '../../parts/search-field.tsx';
import { useGetName, usePage } from '../../shell/page.tsx';
import { useStrings } from '../../strings/strings.tsx';
import { useBuilderStrings } from '../builder-strings.ts';
import { ConditionsEditor } from './conditions-editor.tsx';
import { type EditorProps, toElementId } from './form.ts';
import { FieldError, FieldGroup } from './frame.tsx';
import { RemoveButton } from './list-items.tsx';
import { runDeployment, ToolTest } from './tool-test.tsx';

const maxMatches = 8;

/** Other deployments as tools, selected by name or by conditions. */
export function DeploymentsEditor({ value, path, form, label, hint, isLabelHidden }: EditorProps) {
  const strings = useBuilderStrings();
  const getName = useGetName();
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const indexed = items.map((item, index) => ({ item, index }));
  const update = (next: readonly unknown[]): void => form.change(path, next.length === 0 ? undefined : next);
  const remove = (index: number): void => update(items.filter((_, at) => at !== index));
  const conditionGroups = indexed.filter(({ item }) => isJsonObject(item));
  return (
    <FieldGroup {...{ form, path, label, hint, isLabelHidden, className: 'builder-list' }}>
      <h3 className="overline">{strings.deploymentIds}</h3>
      <ul className="builder-chips">
        {indexed.map(
          ({ item, index }) =>
            typeof item === 'string' && (
              <li key={item} className="upload" id={toElementId(form, [...path, index])}>
                <span className="upload-name" title={item}>
                  {getName(item)}
                </span>
                <SharedBy id={item} />
                <RemoveButton name={getName(item)} icon="close" remove={() => remove(index)} />
                <FieldError {...{ form, path: [...path, index] }} />
              </li>
            ),
        )}
      </ul>
      <DeploymentTests ids={items.filter((item) => typeof item === 'string')} />
      <DeploymentSearch excluded={[...items, form.stored?.id]} add={(id) => update([...items, id])} />
      <h3 className="overline">{strings.conditionSets}</h3>
      <p className="soft small">{strings.conditionsHint}</p>
      <ul>
        {conditionGroups.map(({ item, index }, number) => (
          <li key={index} className="builder-card">
            <ConditionsEditor
              {...{ form, value: item, path: [...path, index] }}
              name={strings.conditionGroup(number + 1)}
              remove={() => remove(index)}
            />
          </li>
        ))}
      </ul>
      <button
        type="button"
        className="button"
        onClick={() =>
          update([...items, { conditions: [{ condition_type: 'eq', property_name: 'application', const: 'model' }] }])
        }
      >
        <Icon name="plus" />
        {strings.addConditions}
      </button>
    </FieldGroup>
  );
}

/** Tests for the deployments, which call them as the application would. */
function DeploymentTests({ ids }: { readonly ids: readonly string[] }) {
  const { toolTest: strings } = useBuilderStrings();
  const { service } = usePage();
  const getName = useGetName();
  const schema = { type: 'object', properties: { query: { type: 'string', title: strings.question } }, required: ['query'] };
  return ids.map((id) => (
    <ToolTest
      key={id}
      {...{ name: getName(id), shouldShowName: true, schema }}
      run={({ query }, signal) => runDeployment(service, id, String(query), signal)}
    />
  ));
}

/** Marks a deployment that another user shared. */
function SharedBy({ id }: { readonly id: string }) {
  const strings = useStrings();
  const { deployments } = usePage();
  const deployment = deployments.find((item) => item.id === id);
  return deployment?.owner === 'other' && <span className="soft small">{strings.sharedByOther(deployment.ownerName)}</span>;
}

function DeploymentSearch({ excluded, add }: { readonly excluded: readonly unknown[]; readonly add: (id: string) => void }) {
  const strings = useStrings();
  const builderStrings = useBuilderStrings();
  const { deployments } = usePage();
  const [query, setQuery] = useState('');
  const id = useId();
  const searchText = query.trim().toLowerCase();
  const matches = deployments.filter(
    (deployment) =>
      !excluded.includes(deployment.id) &&
      `${deployment.id} ${deployment.name} ${deployment.description}`.toLowerCase().includes(searchText),
  );
  const pick = (pickedId: string): void => {
    setQuery('');
    add(pickedId);
    document.getElementById(id)?.focus();
  };
  return (
    <div className="builder-search">
      <SearchField
        {...{ id, label: builderStrings.findDeployment, value: query, onChange: setQuery }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || isComposing(event.nativeEvent)) return;
          event.preventDefault();
          if (searchText !== '' && matches[0] !== undefined) pick(matches[0].id);
        }}
      />
      {searchText !== '' && matches.length === 0 && <p className="soft small">{strings.noDeploymentFound(query.trim())}</p>}
      {searchText !== '' && (
        <div className="options">
          {matches.slice(0, maxMatches).map((deployment) => (
            <button
              key={deployment.id}
              type="button"
              className="button"
              title={deployment.id}
              onClick={() => pick(deployment.id)}
            >
              <Icon name="plus" />
              {deployment.name}
              <SharedBy id={deployment.id} />
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
