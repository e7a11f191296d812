import { Fragment, useState } from 'react';
import { CopyButton } from '../src/parts/copy-button.tsx';
import { FileButton } from '../src/parts/device-files.tsx';
import { Icon, type IconName } from '../src/parts/icon.tsx';
import { Menu } from '../src/parts/menu.tsx';
import { Segments } from '../src/parts/segments.tsx';
import { Sample, Section } from './section.tsx';

const kinds = [
  ['usual', 'button'],
  ['primary', 'button primary'],
  ['slim', 'button slim'],
  ['danger', 'button danger'],
  ['quiet', 'button quiet'],
] as const;
const icons: readonly IconName[] = ['plus', 'search', 'edit', 'trash', 'star', 'save', 'alert', 'more'];

export function ButtonSection() {
  const [selected, choose] = useState<'one' | 'two' | 'three'>('one');
  return (
    <Section name="Buttons">
      <Sample name="Buttons, and each when it cannot be pressed">
        {kinds.map(([name, className]) => (
          <Fragment key={name}>
            <button type="button" className={className}>
              {name}
            </button>
            <button type="button" className={className} disabled>
              {name}
            </button>
          </Fragment>
        ))}
        <button type="button" className="button" aria-pressed="true">
          pressed
        </button>
        <button type="button" className="button">
          <Icon name="plus" /> with a drawing
        </button>
        <FileButton label="select a file" onFile={() => undefined} />
      </Sample>
      <Sample name="Drawings alone, marked, and when they cannot be pressed">
        {icons.map((name) => (
          <button key={name} type="button" className="icon-button" aria-label={name} title={name}>
            <Icon name={name} />
          </button>
        ))}
        <button type="button" className="icon-button marked" aria-label="marked" title="marked">
          <Icon name="star" />
        </button>
        <button type="button" className="icon-button" aria-label="off" title="off" disabled>
          <Icon name="send" />
        </button>
        <CopyButton text={() => 'copied'} />
      </Sample>
      <Sample name="Ways to other pages, and the one that is open">
        <a className="quiet-link" href="#other">
          <Icon name="file" /> Files
        </a>
        <a className="quiet-link" href="#this" aria-current="page">
          <Icon name="bars" /> Usage
        </a>
      </Sample>
      <Sample name="Menu and segments">
        <Menu label="More" icon={<Icon name="more" />}>
          <button type="button">Rename</button>
          <button type="button">Delete</button>
        </Menu>
        <Segments
          name="One of a few"
          value={selected}
          options={[
            ['one', 'Days'],
            ['two', 'Weeks'],
            ['three', 'Months'],
          ]}
          onSelect={choose}
        />
      </Sample>
    </Section>
  );
}
