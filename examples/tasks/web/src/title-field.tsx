import { type KeyboardEvent, useEffect, useRef } from 'react';

interface TitleFieldProps {
  readonly title: string;
  /** With the new title, or undefined when the old one stays. */
  readonly onEdited: (title: string | undefined) => void;
  /** Gives the focus back to where it was. */
  readonly onLeave: () => void;
}

/** A todo's title as it is edited: Enter or leaving the field saves, Escape does not. */
export function TitleField({ title, onEdited, onLeave }: TitleFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);
  const end = (text: string) => {
    const edited = text.trim();
    onEdited(edited === '' || edited === title ? undefined : edited);
  };
  const onKeyDown = ({ key, nativeEvent, currentTarget }: KeyboardEvent<HTMLInputElement>) => {
    if (nativeEvent.isComposing || (key !== 'Enter' && key !== 'Escape')) return;
    // Leaving the field is what ends the edit, once.
    if (key === 'Escape') currentTarget.value = title;
    onLeave();
  };
  return (
    <input
      ref={input}
      className="title"
      type="text"
      aria-label={`Edit ${title}`}
      defaultValue={title}
      maxLength={1000}
      onKeyDown={onKeyDown}
      onBlur={(event) => end(event.currentTarget.value)}
    />
  );
}
