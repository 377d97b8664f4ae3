// Starts Swagger UI on the documentation page.
const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

// Swagger UI puts a link into the button that opens an operation: assistive technology may then reach neither.
const withoutNestedLinks = ({ React }) => ({
  wrapComponents: {
    DeepLink:
      () =>
      ({ text }) =>
        React.createElement('span', null, text),
  },
});

// Swagger UI leaves these without a label.
const labels = {
  'textarea.body-param__text': 'Request body',
  '.examples-select-element': 'Example',
  '.parameters select': 'Value',
};
const label = () => {
  for (const [selector, text] of Object.entries(labels)) {
    for (const element of document.querySelectorAll(`${selector}:not([aria-label])`)) {
      element.setAttribute('aria-label', element.closest('[data-param-name]')?.dataset.paramName ?? text);
    }
  }
};
new MutationObserver(label).observe(document.getElementById('docs'), { childList: true, subtree: true });

SwaggerUIBundle({
  // Whole, since the servers in the document may be relative to it.
  url: new URL('openapi.json', document.baseURI).href,
  dom_id: '#docs',
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  supportedSubmitMethods: ['post'],
  plugins: [withoutNestedLinks],
  // Else the document would be sent to a validator elsewhere.
  validatorUrl: null,
  // Else tokens would stay in the browser's storage after the page is closed.
  persistAuthorization: false,
});
