import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { CheckIcon } from './icons.js';

export interface MenuOption<Value> {
  readonly value: Value;
  readonly text: string;
  readonly icon: ReactNode;
}

interface MenuProps<Value> {
  /** The field that the menu changes. Keys open the menu by it. */
  readonly name: string;
  readonly label: string;
  readonly value: Value;
  readonly options: () => readonly MenuOption<Value>[];
  readonly onChoose: (value: Value) => void;
  readonly children: ReactNode;
}

/** A button that opens a menu of values. */
export function Menu<Value>({ name, label, value, options, onChoose, children }: MenuProps<Value>) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        ref={button}
        type="button"
        className="menu-button"
        data-menu={name}
        aria-label={label}
        aria-haspopup="listbox"
        aria-expanded={isOpen}
        title={label}
        onClick={() => setOpen(true)}
      >
        {children}
      </button>
      {isOpen && (
        <MenuList
          label={label}
          anchor={button}
          value={value}
          options={options()}
          onClose={() => setOpen(false)}
          onChoose={(chosen) => {
            setOpen(false);
            button.current?.focus();
            if (chosen !== value) onChoose(chosen);
          }}
        />
      )}
    </>
  );
}

interface MenuListProps<Value> {
  readonly label: string;
  readonly anchor: { readonly current: HTMLElement | null };
  readonly value: Value;
  readonly options: readonly MenuOption<Value>[];
  readonly onChoose: (value: Value) => void;
  readonly onClose: () => void;
}

function MenuList<Value>({ label, anchor, value, options, onChoose, onClose }: MenuListProps<Value>) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current: menu } = list;
    if (!menu || !anchor.current) return;
    menu.showPopover();
    place(menu, anchor.current);
    (menu.querySelector<HTMLElement>('[aria-selected=true]') ?? menu.querySelector('button'))?.focus();
  }, [anchor]);
  const move = (event: KeyboardEvent, by: number) => {
    event.preventDefault();
    const buttons = [...list.current!.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    buttons[(at + by + buttons.length) % buttons.length]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') move(event, 1);
    else if (event.key === 'ArrowUp') move(event, -1);
    else {
      const wanted = options.findIndex(({ text }) => text.toLowerCase().startsWith(event.key.toLowerCase()));
      if (event.key.length === 1) list.current!.querySelectorAll('button')[wanted]?.focus();
    }
  };
  return (
    <div
      ref={list}
      className="menu"
      popover="auto"
      role="listbox"
      aria-label={label}
      onKeyDown={onKeyDown}
      onToggle={(event) => event.newState === 'closed' && onClose()}
    >
      {options.map((option) => (
        <button
          key={option.text}
          type="button"
          role="option"
          aria-selected={option.value === value}
          onClick={() => onChoose(option.value)}
        >
          {option.icon}
          {option.text}
          {option.value === value && <CheckIcon />}
        </button>
      ))}
    </div>
  );
}

/** Puts a menu below its button, or above it if there is no room. */
function place(menu: HTMLElement, button: HTMLElement): void {
  const { left, top, bottom } = button.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = menu;
  const isBelow = bottom + offsetHeight + 8 < innerHeight;
  menu.style.left = `${Math.max(8, Math.min(left, innerWidth - offsetWidth - 8))}px`;
  menu.style.top = `${isBelow ? bottom + 4 : Math.max(8, top - offsetHeight - 4)}px`;
}
