import { TableView } from '../src/attachments/attachment-body.tsx';
import { Chart } from '../src/attachments/chart.tsx';
import { StateMark } from '../src/background/answer-view.tsx';
import '../src/background/background.css';
import { DataTable } from '../src/parts/data-table.tsx';
import { Sample, Section } from './section.tsx';

const rows = [
  { name: 'Writer', calls: 1204, cost: '$3.11' },
  { name: 'Demo', calls: 88, cost: '$0.00' },
];
const chart = JSON.stringify({
  data: [
    { type: 'bar', name: 'Writer', x: ['Mon', 'Tue', 'Wed'], y: [3, 5, 2] },
    { type: 'bar', name: 'Demo', x: ['Mon', 'Tue', 'Wed'], y: [1, 2, 4] },
  ],
  layout: { title: { text: 'Calls by day' } },
});

export function DataSection() {
  return (
    <Section name="Data">
      <DataTable
        label="Calls by model"
        columns={[
          { name: 'Model', render: ({ name }) => name },
          { name: 'Calls', render: ({ calls }) => calls.toLocaleString('en'), isNumeric: true },
          { name: 'Cost', render: ({ cost }) => cost, isNumeric: true },
        ]}
        rows={rows}
        getKey={({ name }) => name}
      />
      <Sample name="A table of an attachment">
        <TableView text={'City,People\nAarhus,285273\nBergen,289330'} />
      </Sample>
      <Chart text={chart} title="Calls" />
      <Sample name="States of answers in the background">
        {(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'] as const).map((status) => (
          <StateMark key={status} status={status} />
        ))}
      </Sample>
    </Section>
  );
}
