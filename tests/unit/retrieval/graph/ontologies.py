"""A small ontology for tests."""

from retrieval.graph.ontology import Ontology

ONTOLOGY = Ontology.model_validate(
    {
        "entity_types": {
            "process": {
                "description": "What changes a material.",
                "examples": ["anaerobic digestion | methanisation", "pyrolysis"],
                "patterns": ["[a-z]+ pretreatment"],
            },
            "material": {"description": "A substance.", "examples": ["methane | CH4", "biochar", "straw"]},
            "concept": {"description": "Anything else.", "fallback": True},
        },
        "relation_types": {
            "produces": {"description": "Makes.", "phrases": ["produces", "gives"]},
            "decreases": {"description": "Lowers.", "phrases": ["reduces", "reduced"]},
            "fed_with": {"description": "Eats.", "phrases": ["is fed with"], "target": ["material"]},
            "made_of": {"description": "Origin.", "reversed": ["turns into"]},
        },
    }
)
