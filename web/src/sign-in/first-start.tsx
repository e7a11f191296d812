import { type FormEvent, useId, useState } from 'react';
import { isJsonObject } from '#base/json/json.ts';
import type { SignInStrings } from '../locales/en/sign-in.ts';
import { TextButton } from '../parts/icon.tsx';
import { SecretField } from '../parts/secret-field.tsx';
import { Service } from '../service/service.ts';
import { toErrorDetails } from '../service/service-error.ts';
import { formatRoute } from '../shell/route.ts';
import { useSignInStrings } from './sign-in-strings.ts';

interface FirstStartProps {
  /** Called with the key to sign the administrator in. */
  readonly onKey: (key: string) => void;
}

/** Exchanges the one-time token from the log for the key of the first administrator, and shows the key once. */
export function FirstStart({ onKey }: FirstStartProps) {
  const strings = useSignInStrings();
  const [key, setKey] = useState<string>();
  const [problem, setProblem] = useState('');
  const [isSigningIn, setIsSigningIn] = useState(false);
  const [inputId, hintId] = [useId(), useId()];
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get('token') ?? '').trim();
    if (token === '') return;
    setProblem('');
    setIsSigningIn(true);
    exchangeToken(token)
      .then(setKey, (error: unknown) => setProblem(describeRejection(error, strings)))
      .finally(() => setIsSigningIn(false));
  };
  const enter = (): void => {
    location.hash = formatRoute({ at: 'administration' });
    onKey(key ?? '');
  };
  if (key !== undefined) return <CreatedKey createdKey={key} onContinue={enter} />;
  return (
    <details className="first-start">
      <summary>{strings.firstStartTitle}</summary>
      <form className="key-form" onSubmit={submit}>
        <p id={hintId} className="soft">
          {strings.firstStartHint}
        </p>
        <label htmlFor={inputId}>{strings.firstStartToken}</label>
        <input
          {...{ id: inputId, name: 'token', type: 'text', autoComplete: 'off', spellCheck: false, required: true }}
          aria-describedby={hintId}
          aria-invalid={problem !== ''}
        />
        <p className="error-text" role="alert">
          {problem}
        </p>
        <button type="submit" className="button" disabled={isSigningIn}>
          {strings.firstStartSubmit}
        </button>
      </form>
    </details>
  );
}

/** The created key, which the service does not show again. */
function CreatedKey({ createdKey, onContinue }: { readonly createdKey: string; readonly onContinue: () => void }) {
  const { firstStartKey, firstStartCopy, firstStartKeyHint, firstStartContinue } = useSignInStrings();
  return (
    <section className="key-form first-start" aria-label={firstStartKey}>
      <h2>{firstStartKey}</h2>
      <p role="status">{firstStartKeyHint}</p>
      <SecretField secret={createdKey} name={firstStartKey} copyLabel={firstStartCopy} />
      <TextButton className="button primary" onClick={onContinue}>
        {firstStartContinue}
      </TextButton>
    </section>
  );
}

/** Returns the key for the one-time token. Throws `ServiceError`. */
async function exchangeToken(token: string): Promise<string> {
  const service = new Service({ getHeaders: async () => ({}), renew: async () => false });
  const answer = await service.json('v1/admin/first-start', { method: 'POST', body: { token } });
  return isJsonObject(answer) ? String(answer.key) : '';
}

function describeRejection(error: unknown, strings: SignInStrings): string {
  const { status, code, message } = toErrorDetails(error);
  if (status === 401) return strings.firstStartWrong;
  return code === 'administrator_exists' ? strings.firstStartEnded : message || strings.firstStartFailed;
}
