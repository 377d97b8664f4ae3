import { Dialog } from './dialog.js';

const keys: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['J', '↓'], 'Next issue'],
  [['K', '↑'], 'Previous issue'],
  [['Enter'], 'Open the issue'],
  [['Esc'], 'Close'],
  [['C'], 'Create an issue'],
  [['S'], 'Change the status'],
  [['P'], 'Change the priority'],
  [['A'], 'Assign'],
  [['/'], 'Search'],
  [['?'], 'Show this help'],
];

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label="Keyboard shortcuts" onClose={onClose}>
      <div className="help">
        <h2>Keyboard shortcuts</h2>
        <dl>
          {keys.map(([names, what]) => (
            <div key={what}>
              <dt>{what}</dt>
              <dd>
                {names.map((name) => (
                  <kbd key={name}>{name}</kbd>
                ))}
              </dd>
            </div>
          ))}
        </dl>
      </div>
    </Dialog>
  );
}
