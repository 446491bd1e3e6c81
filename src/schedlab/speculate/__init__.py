"""Jobs with stochastic run times: laws, request sequences."""
