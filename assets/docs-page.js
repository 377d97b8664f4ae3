// Starts Swagger UI on the documentation page.
const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

SwaggerUIBundle({
  // Whole, since the servers in the document may be relative to it.
  url: new URL('openapi.json', document.baseURI).href,
  dom_id: '#docs',
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  supportedSubmitMethods: ['post'],
  // Else the document would be sent to a validator elsewhere.
  validatorUrl: null,
  // Else tokens would stay in the browser's storage after the page is closed.
  persistAuthorization: false,
});
