import { type ComponentProps, useId, useRef } from 'react';
import { SchemaForm } from '../src/forms/schema-form.tsx';
import { type ChoiceKeys, ChoiceList } from '../src/parts/choice-list.tsx';
import { SearchField } from '../src/parts/search-field.tsx';
import { SecretField } from '../src/parts/secret-field.tsx';
import { Sample, Section } from './section.tsx';

const schema: ComponentProps<typeof SchemaForm>['schema'] = {
  type: 'object',
  required: ['from', 'to'],
  properties: {
    from: { type: 'string', title: 'From', description: 'The city the journey begins in.' },
    to: { type: 'string', title: 'To', enum: ['Aarhus', 'Bergen', 'Cadiz'] },
    nights: { type: 'integer', title: 'Nights', minimum: 1 },
    isDirect: { type: 'boolean', title: 'Without a change' },
  },
};

function Named({ name, ...input }: ComponentProps<'input'> & { readonly name: string }) {
  const id = useId();
  return (
    <div className="named">
      <label htmlFor={id}>{name}</label>
      <input id={id} {...input} />
    </div>
  );
}

export function FieldSection() {
  const keys = useRef<ChoiceKeys>(null);
  const id = useId();
  return (
    <Section name="Fields">
      <Sample name="Empty, filled, refused, closed">
        <Named name="Name" placeholder="Visible to other users" />
        <Named name="Description" defaultValue="Plans journeys" />
        <Named name="Address" defaultValue="nowhere" aria-invalid="true" />
        <Named name="Key" defaultValue="kept" disabled />
      </Sample>
      <Sample name="A new secret">
        <SecretField secret="parley_k_example" name="New key" copyLabel="Copy" />
      </Sample>
      <Sample name="Longer text, a choice, ticks">
        <div className="named">
          <label htmlFor={`${id}-text`}>Instructions</label>
          <textarea id={`${id}-text`} rows={2} defaultValue="Be brief." />
        </div>
        <div className="named">
          <label htmlFor={`${id}-choice`}>Model</label>
          <select id={`${id}-choice`}>
            <option>Writer</option>
            <option>Demo</option>
          </select>
        </div>
        <label>
          <input type="checkbox" defaultChecked /> Ticked
        </label>
        <label>
          <input type="radio" name="radio" /> One of several
        </label>
      </Sample>
      <Sample name="Search">
        <SearchField label="Search chats" value="" onChange={() => undefined} />
        <SearchField label="Search chats" value="Rome" onChange={() => undefined} />
      </Sample>
      <Sample name="Choice above a message">
        <ChoiceList
          label="Prompts"
          items={[
            { id: 'a', name: 'Translate' },
            { id: 'b', name: 'Sum up' },
            { id: 'c', name: 'All prompts' },
          ]}
          {...{ keys, onSelect: () => undefined, onClose: () => undefined, endsWithAction: true }}
        />
      </Sample>
      <Sample name="Form made from a schema, to be sent and sent">
        <SchemaForm schema={schema} submittedValue={undefined} onSubmit={() => undefined} />
      </Sample>
    </Section>
  );
}
