export async function register() {
  if (process.env.NEXT_RUNTIME === 'nodejs') {
    const { sync } = await import('../sync');
    process.once('SIGTERM', () => sync.drain());
  }
}
