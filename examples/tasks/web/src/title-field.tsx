import { type KeyboardEvent, useEffect, useRef } from 'react';
import { isComposing } from './is-composing.js';

interface TitleFieldProps {
  readonly title: string;
  /** Called with the new title, or with undefined if the old one stays. */
  readonly onEdited: (title: string | undefined) => void;
  /** Returns the focus to where it was. */
  readonly onLeave: () => void;
}

/**
 * A field for editing a todo's title. Enter or leaving the field saves it; Escape does not. An unchanged text is not
 * saved, because another user may have changed the title during the edit.
 */
export function TitleField({ title, onEdited, onLeave }: TitleFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  /** The initial text as the field has it: without line breaks. */
  const opened = useRef('');
  useEffect(() => {
    const field = input.current!;
    field.focus();
    field.select();
    opened.current = field.value;
  }, []);
  const end = (text: string) => {
    const edited = text.trim();
    const isSame = edited === opened.current.trim() || edited === title;
    onEdited(edited === '' || isSame ? undefined : edited);
  };
  const onKeyDown = ({ key, nativeEvent, currentTarget }: KeyboardEvent<HTMLInputElement>) => {
    if (isComposing(nativeEvent) || (key !== 'Enter' && key !== 'Escape')) return;
    // Does not end the edit itself: the focus leaves the field, which ends the edit, and only once.
    if (key === 'Escape') currentTarget.value = opened.current;
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
