"""The models of retrieval, where Django finds them."""

from __future__ import annotations

from retrieval.graph.community_models import (
    BuildDocument,
    Community,
    CommunityBuild,
    CommunityDocument,
    CommunityMember,
)
from retrieval.graph.models import ChunkStamp, Description, Entity, ExtractionRun, Mention, Relationship
from retrieval.graph.resolution_models import MergeProposal, PassageSense, ResolutionAudit

__all__ = [
    "BuildDocument",
    "ChunkStamp",
    "Community",
    "CommunityBuild",
    "CommunityDocument",
    "CommunityMember",
    "Description",
    "Entity",
    "ExtractionRun",
    "Mention",
    "MergeProposal",
    "PassageSense",
    "Relationship",
    "ResolutionAudit",
]
