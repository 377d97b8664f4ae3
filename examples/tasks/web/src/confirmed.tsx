import { useState } from 'react';

interface ConfirmedProps {
  readonly label: string;
  /** The question to ask first; undefined if there is nothing to lose. */
  readonly question: string | undefined;
  readonly yes: string;
  readonly no: string;
  readonly onConfirmed: () => void;
}

/** A button that asks before an action that cannot be undone. */
export function Confirmed({ label, question, yes, no, onConfirmed }: ConfirmedProps) {
  const [asking, setAsking] = useState(false);
  if (!asking || !question) {
    return (
      <button type="button" className="quiet" onClick={() => (question ? setAsking(true) : onConfirmed())}>
        {label}
      </button>
    );
  }
  return (
    <span className="confirm">
      <span className="question">{question}</span>
      <button type="button" className="danger" onClick={onConfirmed}>
        {yes}
      </button>
      {/* biome-ignore lint/a11y/noAutofocus: the button that had the focus is gone, and this one is harmless */}
      <button type="button" autoFocus onClick={() => setAsking(false)}>
        {no}
      </button>
    </span>
  );
}
