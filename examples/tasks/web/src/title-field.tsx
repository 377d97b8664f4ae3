import { type KeyboardEvent, useEffect, useRef } from 'react';

interface TitleFieldProps {
  readonly title: string;
  /** Called with the new title, or with undefined if the old one stays. */
  readonly onEdited: (title: string | undefined) => void;
  /** Returns the focus to where it was. */
  readonly onLeave: () => void;
}

/** A field for editing a todo's title. Enter or leaving the field saves it; Escape does not. */
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
    // Does not end the edit itself: the focus leaves the field, which ends the edit, and only once.
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
