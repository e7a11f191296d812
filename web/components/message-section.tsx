import { useState } from 'react';
import { DeploymentIcon } from '../src/chat/deployments/deployment-icon.tsx';
import { Thoughts } from '../src/chat/turns/reply-body.tsx';
import '../src/chat/turns/thread.css';
import '../src/chat/turns/turns.css';
import '../src/chat/deployments/picker.css';
import '../src/operations/operations.css';
import { ErrorMessage } from '../src/parts/error-message.tsx';
import { PageHeader } from '../src/parts/named-page.tsx';
import { useConfirmation } from '../src/parts/question-dialog.tsx';
import type { Deployment } from '../src/service/deployments.ts';
import { Sample, Section } from './section.tsx';

const base = { description: '', inputAttachmentTypes: undefined } as Partial<Deployment>;
const createDeployment = (id: string, name: string) => ({ ...base, id, name }) as Deployment;

export function MessageSection() {
  const { askConfirmation: ask, dialog } = useConfirmation();
  const [answered, setAnswered] = useState('nothing yet');
  const put = async (): Promise<void> => setAnswered((await ask('Delete “Journey”?', 'Delete')) ? 'yes' : 'no');
  return (
    <Section name="Messages">
      <Sample name="The header of a page (with the button for the chat list on narrow screens)">
        <PageHeader openMenu={() => undefined}>
          <span className="page-name">Usage</span>
        </PageHeader>
      </Sample>
      <Sample name="A question before an action that cannot be undone">
        <button type="button" className="button" onClick={() => void put()}>
          Delete
        </button>
        <span className="soft">Answered: {answered}</span>
        {dialog}
      </Sample>
      <Sample name="What went wrong">
        <ErrorMessage error={{ status: 429, code: 'rate_limit_exceeded', message: 'Too many requests.', requestId: 'r-1' }} />
        <ErrorMessage error={{ status: 0, code: 'connection_lost', message: '' }} />
      </Sample>
      <Sample name="Notes and verdicts">
        <p className="note">A note in small type.</p>
        <p className="operator-notice">What the operator has to say.</p>
        <span className="verdict good">Good</span>
        <span className="verdict warning">Warning</span>
        <span className="verdict bad">Bad</span>
      </Sample>
      <Sample name="Waiting and thinking">
        <p className="waiting soft">
          <span className="pulse" aria-hidden="true" />
          Waiting for an answer
        </p>
        <Thoughts text="Two trains leave in the morning." />
      </Sample>
      <Sample name="Deployments without a picture">
        {['demo', 'scripted', 'trips', 'mail', 'writer', 'weather'].map((id) => (
          <DeploymentIcon key={id} deployment={createDeployment(id, id)} />
        ))}
        <DeploymentIcon deployment={createDeployment('demo', 'Demo')} size="tiny" />
        <DeploymentIcon deployment={createDeployment('demo', 'Demo')} size="large" />
      </Sample>
    </Section>
  );
}
